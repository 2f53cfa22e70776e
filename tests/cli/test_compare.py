from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamgauge.measure.summary import Summary
from tests.compare import made_up as compared

from . import made_up
from .calling import Answer, call


def stored(runs: Path, *found: Summary) -> list[str]:
    """The names of the runs."""
    return [made_up.stored(runs, one).path.name for one in found]


def compare(runs: Path, *arguments: str) -> Answer:
    return call("compare", *arguments, "--runs-dir", str(runs))


def rows(answer: Answer) -> list[str]:
    """The lines, however wide their columns are."""
    return [" ".join(line.split()) for line in answer.out.splitlines()]


def test_two_runs_are_compared_on_the_terminal_and_on_a_page(runs: Path) -> None:
    base, other = stored(runs, compared.single(800), compared.single(900))
    answer = compare(runs, base, other)
    assert (answer.code, answer.err) == (0, "")
    assert "p99 1.52 s 1.71 s +190 ms +12.5 % unknown ? noise unknown" in rows(answer)
    assert "noise: one run each: the noise is unknown" in answer.out
    assert "significant" not in answer.out
    page = runs / f"compare-{base}-{other}.html"
    assert answer.out.splitlines()[-1] == f"page: {page}"
    assert "▲ better" in page.read_text()


def test_repeated_runs_have_a_noise_margin(runs: Path) -> None:
    base, other = stored(
        runs, compared.repeated([800, 810, 805]), compared.repeated([700, 705, 712])
    )
    answer = compare(runs, base, other)
    assert "p99 1.53 s 1.34 s −189 ms −12.3 % ± 24 ms (1.6 %) ▲ better" in rows(answer)
    assert "noise: Welch's test at 95 %, 3 and 3 repetitions" in answer.out
    assert "figures: 16 better" in answer.out


def test_noise_is_called_not_significant(runs: Path) -> None:
    base, other = stored(
        runs, compared.repeated([700, 800, 900]), compared.repeated([720, 830, 900])
    )
    assert "= not significant" in compare(runs, base, other).out


def test_verdicts_that_differ_are_the_first_line(runs: Path) -> None:
    bad = compared.single(700, verdict="invalid", reasons=["12 results are missing"])
    base, other = stored(runs, compared.single(), bad)
    first = compare(runs, base, other).out.splitlines()[0]
    assert first.startswith("⚠ the verdicts differ: base is ✓ VALID, other is ✗ INVALID")


def test_differences_are_warned_about(runs: Path) -> None:
    changed = {**compared.single().parameters, "load.rate": 5e4, "system.trigger": "2 s"}
    base, other = stored(runs, compared.single(), compared.single(parameters=changed, quick=True))
    out = compare(runs, base, other).out
    assert "  ! load.rate differs: 100,000/s → 50,000/s\n" in out
    assert "  ! the other is a quick run: its numbers are meaningless\n" in out
    assert "  system.trigger differs: 1 s → 2 s\n" in out


def test_cases_of_sweeps_are_matched_and_the_rest_is_named(runs: Path) -> None:
    base, other = stored(
        runs,
        compared.sweep({1: [800, 801], 2: [800, 801]}, "workload.keys"),
        compared.sweep({2: [900, 901], 3: [800, 801]}, "workload.keys"),
    )
    lines = compare(runs, base, other).out.splitlines()
    assert "keys 2" in lines
    assert "only in the base: keys 1" in lines
    assert "only in the other: keys 3" in lines


def test_several_others(runs: Path) -> None:
    names = stored(runs, *(compared.single(mean) for mean in (800, 700, 900)))
    answer = compare(runs, *names, "--fail-if", "p99:+5%")
    assert answer.code == 1
    assert f"against {names[1]}" in answer.out
    assert f"✓ p99:+5%   {names[1]}: −12.5 %" in answer.out
    assert f"✗ p99:+5%   {names[2]}: +12.5 %" in answer.out
    assert answer.out.endswith(f"compare-{names[0]}-{names[1]}-and-1-more.html\n")


def test_latest_and_paths_are_runs_too(runs: Path) -> None:
    base, other = stored(runs, compared.single(800), compared.single(900))
    answer = compare(runs, str(runs / base), "latest")
    assert answer.code == 0
    assert (runs / f"compare-{base}-{other}.html").exists()


@pytest.mark.parametrize(
    ("expressions", "code"),
    [
        (["p99:+15%"], 0),
        (["p99:+5%"], 1),
        (["p99:+15%", "mean:+50 ms"], 1),
        (["missing:+0", "throughput:-1%"], 0),
        (["maximum:-5%"], 1),
    ],
)
def test_fail_if_decides_the_exit_code(runs: Path, expressions: list[str], code: int) -> None:
    base, other = stored(runs, compared.single(800), compared.single(900))
    options = [part for text in expressions for part in ("--fail-if", text)]
    answer = compare(runs, base, other, *options)
    assert answer.code == code
    assert all(text in answer.out for text in expressions)


def test_a_change_inside_the_noise_passes_with_that_reason(runs: Path) -> None:
    base, other = stored(
        runs, compared.repeated([700, 800, 900]), compared.repeated([730, 830, 930])
    )
    answer = compare(runs, base, other, "--fail-if", "mean:+1%")
    assert answer.code == 0
    assert "✓ mean:+1%   +3.8 % (800 ms → 830 ms), but that is inside the noise" in answer.out


def test_json_and_nothing_else(runs: Path) -> None:
    base, other = stored(runs, compared.single(800), compared.single(900))
    answer = compare(runs, base, other, "--json", "--fail-if", "p99:+5%")
    assert answer.code == 1
    found = json.loads(answer.out)
    assert found["base"]["label"] == base
    (pair,) = found["pairs"]
    changes = {one["figure"]: one for one in pair["cases"][0]["changes"]}
    assert changes["event_time.p99"]["percent"] == pytest.approx(12.5)
    assert changes["event_time.p99"]["finding"] == "noise unknown"
    assert [(one["expression"], one["passed"]) for one in found["fail_if"]] == [("p99:+5%", False)]
    assert Path(found["page"]).exists()


def test_output_sets_the_file_of_the_page(runs: Path, tmp_path: Path) -> None:
    base, other = stored(runs, compared.single(800), compared.single(900))
    page = tmp_path / "new" / "page.html"
    answer = compare(runs, base, other, "--output", str(page))
    assert answer.out.endswith(f"page: {page}\n")
    assert page.exists()


def test_a_page_that_cannot_be_written_is_reported(runs: Path, tmp_path: Path) -> None:
    base, other = stored(runs, compared.single(800), compared.single(900))
    (tmp_path / "file").write_text("")
    answer = compare(runs, base, other, "--output", str(tmp_path / "file" / "page.html"))
    assert answer.code == 5
    assert "fix: name another file with --output" in answer.err


def test_a_published_figure_is_a_base(runs: Path) -> None:
    (run,) = stored(runs, compared.search(400_000, failed=420_000))
    answer = compare(runs, "published:table-2/spark/2-nodes", run, "--fail-if", "maximum:-10%")
    assert (answer.code, answer.err) == (0, "")
    assert "maximum sustainable   379,000/s   400,000/s   +21,000/s   +5.5 %" in answer.out
    assert "compare orders of magnitude" in answer.out
    assert (runs / f"compare-published-table-2-spark-2-nodes-{run}.html").exists()


def test_published_figures_are_listed() -> None:
    answer = call("compare", "published:")
    assert (answer.code, answer.err) == (0, "")
    assert "Karimov" in answer.out
    assert "published:table-2/{storm,spark,flink}/{2-nodes,4-nodes,8-nodes}" in answer.out
    tables = json.loads(call("compare", "published:", "--json").out)
    names = [one["name"] for one in tables]
    assert names[0] == "dual-latency"
    assert names[-5:] == ["table-1", "table-2", "table-3", "table-4", "text"]


@pytest.mark.parametrize(
    ("arguments", "cause", "fix"),
    [
        (["published:table-2/sprk/2-nodes", "r"], "published:table-2/sprk/2-nodes", "did you mean"),
        (["published:", "r"], "published:", "lists them all"),
        (["no-such-run", "other"], "no-such-run", "`streamgauge list runs`"),
        (["base"], "`base` must be compared", "name one run or more"),
        (["a", "b", "--fail-if", "p9:+5%"], "no figure `p9`", "did you mean `p99`?"),
        (["a", "b", "--fail-if", "p99"], "is not of the form", "p99:+5%"),
        ([], "BASE", "`streamgauge compare --help` shows how"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_fix(arguments: list[str], cause: str, fix: str) -> None:
    answer = call("compare", *arguments)
    assert (answer.code, answer.out) == (2, "")
    first, second = answer.err.splitlines()
    assert first.startswith("error: ")
    assert cause in first
    assert fix in second


@pytest.mark.parametrize("content", [None, "{", '{"name": 5}'])
def test_a_run_without_a_readable_summary_is_reported(runs: Path, content: str | None) -> None:
    base, other = stored(runs, compared.single(), compared.single())
    summary = runs / other / "summary.json"
    if content is None:
        summary.unlink()
    else:
        summary.write_text(content)
    answer = compare(runs, base, other)
    assert answer.code == 2
    assert ("has no summary" if content is None else "cannot be read") in answer.err


def test_help_shows_the_arguments() -> None:
    answer = call("compare", "--help")
    assert answer.code == 0
    assert "BASE OTHER..." in answer.out
