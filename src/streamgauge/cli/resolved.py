"""A plan as an experiment file with every default."""

from __future__ import annotations

from typing import Any

from streamgauge import plugins
from streamgauge.cli.catalogue import of_signature
from streamgauge.experiments.planning.model import Named
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.planning.study import Study
from streamgauge.queries.own import BoundQuery
from streamgauge.queries.results import ProgramQuery


def resolved(study: Study) -> dict[str, Any]:
    """The output of `--dry-run`; saved to a file, it is the same experiment."""
    experiment, plan = study.experiment, study.first_plan
    data = {key: value for key, value in study.stored.items() if value is not None}
    if study.is_single:
        for section in ("repeat", "vary", "also", "search"):
            del data[section]
    data["workload"] = {"query": plan.query_config.name, **_query_parameters(plan)}
    data["system"] = {
        "name": experiment.system.name,
        **plan.system.model_dump(mode="json", exclude_none=True),
    }
    data["channel"] = {
        "name": experiment.channel.name,
        **plan.channel.model_dump(
            mode="json", exclude=set(plan.channel.secrets), exclude_none=True
        ),
    }
    load = data["load"]
    load["schedule"] = _named("schedules", experiment.load.schedule, plan)
    load["policy"] = _named("policies", experiment.load.policy, plan)
    for name, stream in experiment.load.streams.items():
        if stream.schedule is not None:
            load["streams"][name]["schedule"] = _named("schedules", stream.schedule, plan)
    return data


def _query_parameters(plan: Plan) -> dict[str, Any]:
    query = plan.query
    if isinstance(query, BoundQuery):
        return {**_defaults(query.own.function), **query.parameters}
    if isinstance(query, ProgramQuery):
        oracle = query.own.oracle_function
        return {**(_defaults(oracle) if oracle else {}), **query.parameters}
    return query.model_dump(mode="json", exclude={"oracle_is"}, exclude_none=True)


def _named(group: str, named: Named, plan: Plan) -> dict[str, Any]:
    factory = plugins.load(group, named.name, key=group, base=plan.base)
    return {"name": named.name, **_defaults(factory), **named.parameters}


def _defaults(function: Any) -> dict[str, Any]:
    return {one.name: one.default for one in of_signature(function) if one.default is not None}
