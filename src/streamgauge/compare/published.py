"""Published figures, to compare with ours: `published:table-2/spark/2-nodes`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from streamgauge.compare.measured import MeasuredCase, Subject
from streamgauge.errors import UsageError
from streamgauge.hints import did_you_mean, nearest
from streamgauge.measure.figures import Use, figures_for
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import DerivedFigure, Publication

PREFIX = "published:"
_NEAR = 0.4
CaseValues = dict[str, object]
"""Values of varied settings that describe a case of ours."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Formula(_Frozen):
    """Two cases of ours between which a figure is compared."""

    figure: str
    before: CaseValues = Field(alias="from")
    after: CaseValues = Field(alias="to")


class DerivedRule(DerivedFigure):
    """A figure that a publication gives only as a ratio, or as a change, between two cases."""

    ratio: Formula | None = None
    change_percent: Formula | None = None

    @model_validator(mode="after")
    def _has_one_formula(self) -> DerivedRule:
        if (self.ratio is None) == (self.change_percent is None):
            raise ValueError("give either `ratio` or `change_percent`")
        return self


class PublishedFigure(_Frozen):
    """One number of a publication, under our name for it; latencies in ms."""

    system: str
    """Key of the system or of a variant of it, such as `spark`."""
    variant_of: str
    """The system itself: the same key, unless this is a variant."""
    setting: str
    """Column of the table, such as `2-nodes`, or a topic of the text."""
    figure: str
    value: float | None
    """None if it was not published; the note says why."""
    note: str = ""
    growing: bool = False
    """Whether the latency grew in that run, so that its mean means nothing."""
    label: str = ""
    """As a table shows it: `Spark 2.0.1, 2 nodes`."""
    beside: CaseValues = {}
    """The case of ours beside it, unless the setting has another."""
    beside_setting: CaseValues = {}
    """The case of ours that has the published setting."""
    derived: DerivedRule | None = None
    exact: bool = False
    """Whether it stands alone where no case of ours has its setting."""


class PublishedTable(_Frozen):
    """A table of a publication."""

    name: str
    about: str
    publication: Publication
    figures: list[PublishedFigure]

    @property
    def citation(self) -> str:
        return self.publication.citation

    @property
    def short(self) -> str:
        return self.publication.short

    @property
    def setup(self) -> list[str]:
        return self.publication.setup

    def at(self, system: str, setting: str) -> list[PublishedFigure]:
        """The figures of one cell of the table."""
        return [one for one in self.figures if (one.system, one.setting) == (system, setting)]


class _Table(_Frozen):
    """A table in the file: values either in the order of `figures`, or with their names."""

    about: str
    figures: list[str] = []
    note: str = ""
    values: dict[str, dict[str, list[float | None] | dict[str, float | None]]]
    notes: dict[str, str] = {}
    growing: list[str] = []
    """Cells, such as `spark/q5-1000`, whose latency grew for the whole run."""


class _System(_Frozen):
    label: str
    variant_of: str = ""
    beside: CaseValues = {}


class _Publication(_Frozen, Publication):
    name: str
    beside: CaseValues = {}
    exact: bool = False
    systems: dict[str, _System]
    settings: dict[str, CaseValues] = {}
    derived: dict[str, DerivedRule] = {}
    tables: dict[str, _Table]


def published_tables() -> dict[str, PublishedTable]:
    """Every published table that comes with streamgauge, by name."""
    found: dict[str, PublishedTable] = {}
    folder = files("streamgauge.compare") / "published"
    entries = [entry for entry in folder.iterdir() if entry.name.endswith(".yaml")]
    for entry in sorted(entries, key=lambda entry: entry.name):
        publication = _Publication.model_validate(yaml.safe_load(entry.read_text("utf-8")))
        for name, table in publication.tables.items():
            found[name] = PublishedTable(
                name=name,
                about=table.about,
                publication=Publication(
                    **publication.model_dump(include=set(Publication.model_fields))
                ),
                figures=list(_figures(publication, table)),
            )
    return found


def _figures(publication: _Publication, table: _Table) -> Iterator[PublishedFigure]:
    for key, settings in table.values.items():
        system = publication.systems[key]
        for setting, cell in settings.items():
            notes = (table.note, table.notes.get(f"{key}/{setting}", ""))
            if isinstance(cell, list):
                cell = dict(zip(table.figures, cell, strict=True))
            for figure, value in cell.items():
                yield PublishedFigure(
                    system=key,
                    variant_of=system.variant_of or key,
                    setting=setting,
                    figure=figure,
                    value=value,
                    note="; ".join(filter(None, notes)),
                    growing=f"{key}/{setting}" in table.growing,
                    label=f"{system.label}, {setting.replace('-', ' ')}",
                    beside=publication.beside | system.beside,
                    beside_setting=publication.settings.get(setting, {}),
                    derived=publication.derived.get(figure),
                    exact=publication.exact,
                )


def published_table(name: str) -> PublishedTable:
    """One table, such as `table-2`, or `text` for the figures in the text of a publication."""
    tables = published_tables()
    if name not in tables:
        otherwise = f"choose one of {', '.join(tables)}"
        fix = did_you_mean(name, tables, otherwise, cutoff=_NEAR)
        raise UsageError(f"there is no published table `{name}`", fix=fix)
    return tables[name]


def figures_of(table: str) -> list[PublishedFigure]:
    return published_table(table).figures


def addresses() -> list[str]:
    """The cells with at least one figure that can be compared."""
    known = _compared_names()
    found = (
        f"{table.name}/{one.system}/{one.setting}"
        for table in published_tables().values()
        for one in table.figures
        if one.figure in known and one.value is not None
    )
    return list(dict.fromkeys(found))


def _compared_names() -> set[str]:
    return {figure.name for figure in figures_for(Use.COMPARE)}


def published_subject(address: str) -> Subject:
    """A published cell as a side of a comparison; `address` with or without `published:`."""
    wanted = address.removeprefix(PREFIX).strip("/")
    if wanted not in addresses():
        raise _unknown(wanted)
    name, system, setting = wanted.split("/")
    table, known = published_table(name), _compared_names()
    cell = table.at(system, setting)
    notes = dict.fromkeys(one.note for one in cell if one.note)
    figures = {
        one.figure: spread_of([one.value])
        for one in cell
        if one.figure in known and one.value is not None
    }
    return Subject(
        label=f"{PREFIX}{wanted}",
        title=f"{cell[0].label} ({table.short})",
        cases=[MeasuredCase({}, figures)],
        notes=[
            f"published, {table.about}: {table.citation}",
            "published figures are of other machines, versions and methods: compare orders of "
            f"magnitude, not per cents ({'; '.join(table.setup)})",
            *(f"{PREFIX}{wanted}: {note}" for note in notes),
        ],
    )


def _unknown(wanted: str) -> UsageError:
    known = addresses()
    below = (one for one in known if wanted and one.startswith(f"{wanted}/"))
    near = next(below, None) or nearest(wanted, known, cutoff=_NEAR)
    meant = f"did you mean `{PREFIX}{near}`? " if near else ""
    tables = published_tables()
    source = tables[near.partition("/")[0]].citation if near else ""
    # The list of one publication is long enough.
    listed = [
        line for line in short_list() if source in ("", tables[line.partition("/")[0]].citation)
    ]
    there = "them all, among them" if near else "them all:"
    return UsageError(
        f"there is no published figure `{PREFIX}{wanted}`",
        fix=f"{meant}`streamgauge compare {PREFIX}` lists {there} {'; '.join(listed)}",
    )


def short_list() -> list[str]:
    """The addresses of each table in one line: `table-2/{storm,spark,flink}/{2-nodes,…}`."""
    settings: dict[tuple[str, str], list[str]] = {}
    for address in addresses():
        table, system, setting = address.split("/")
        settings.setdefault((table, system), []).append(setting)
    systems: dict[tuple[str, str], list[str]] = {}
    for (table, system), names in settings.items():
        systems.setdefault((table, _either(names)), []).append(system)
    return [f"{table}/{_either(names)}/{found}" for (table, found), names in systems.items()]


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
