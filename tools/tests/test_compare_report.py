"""The results of a comparison: files that can be read again, a page that needs no other file, words on the screen."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Sequence

import pytest
from armci_tool.compare import earlier, page, pictures, record, runner, text, trial
from armci_tool.errors import ToolError
from compared import ROUNDS, case, collected, comparison, rounds, run
from helpers import armci

SIZES = ("8 B", "1 KiB", "64 KiB", "2 MiB")
FAILURE = runner.Failure("beta", "rma", 2, 1, "hung", ("the <last> words",))


def made_up(scale: float = 2.0) -> record.Comparison:
    """Curves, cases without a size, a kernel, a violation and a failure."""
    ours = {(name, size): 10.0 * number for name in ("put", "get") for number, size in enumerate(SIZES, 1)}
    ours |= {("put strided", "64 KiB"): 50.0, ("put n rows", "64 KiB"): 20.0}
    theirs = {key: scale * value for key, value in ours.items()}
    kernel = {("multigrid", "64 x 64"): 2e6, ("sort", "-"): 3e6}
    return comparison(rounds("alpha", ours, others=[("memcpy", 5.0)]), rounds("beta", theirs, seed=2),
                      rounds("alpha", kernel, benchmark="mg", kernel=True, others=[("messages", 4e6)]),
                      rounds("beta", kernel, 3, "mg", kernel=True, others=[("messages", 1e6)]),
                      failures=[FAILURE])


class Page(HTMLParser):
    """The tags of the page, and the files that it loads."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in ("src", "srcset") or (tag == "link" and name == "href")]


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of the made-up comparison."""
    folder = tmp_path_factory.mktemp("report")
    made = made_up()
    record.write(folder, made)
    page.write(folder, made)
    return folder


def test_cells_in_which_ours_is_not_ahead_of_a_peer_come_first(tmp_path: Path) -> None:
    ours = {("put", "8 B"): 10.0, ("put", "1 KiB"): 30.0, ("get", "8 B"): 10.0, ("alone", "8 B"): 10.0}
    theirs = {("put", "8 B"): 20.0, ("put", "1 KiB"): 20.0, ("get", "8 B"): 10.0}
    slower = {key: 2 * value for key, value in theirs.items()}
    made = comparison(rounds("alpha", ours), rounds("beta", theirs, 2), rounds("gamma", slower, 3), peers=["beta", "gamma"])
    assert [(row[0], row[1], row[3], row[6]) for row in text.behind(made).rows] == [
        ("alpha", "transfers: put, 1 KiB", "beta", "slower"), ("alpha", "transfers: get, 8 B", "beta", "as fast")]
    assert "ahead of every peer in 1 of 3 cells; not in these:" in text.render(made)
    [marked] = [row for row in text.answers(made).rows if row[1:3] == ["put", "1 KiB"]]
    assert marked[3].endswith("!") and not marked[4].endswith("!")
    assert [one["case"] for one in made.as_json()["not_ahead"]] == ["transfers: put, 1 KiB", "transfers: get, 8 B"]
    page.write(tmp_path, made)
    source = (tmp_path / page.PAGE_NAME).read_text()
    assert source.index('id="peers"') < source.index('id="winners"')
    assert source.count('aria-label="not ahead of a peer"') == 2


def test_without_a_peer_nothing_is_said_of_peers(folder: Path) -> None:
    assert " peer" not in (folder / page.PAGE_NAME).read_text() and "ahead of every" not in text.render(made_up())


def test_the_page_needs_no_other_file(folder: Path) -> None:
    source = (folder / page.PAGE_NAME).read_text()
    found = Page(source)
    assert found.loaded and all(one.startswith("data:image/svg+xml;base64,") for one in found.loaded)
    assert "script" not in found.tags and "url(" not in source
    assert 'name="viewport"' in source


def test_the_page_has_curves_bars_maps_and_all_that_was_found(folder: Path) -> None:
    source = (folder / page.PAGE_NAME).read_text()
    for said in ("Which library wins where", "By how much", "transfers, put: time", "transfers, get: bandwidth", "mg (2 processes)", "put n rows",
                 "beta: rma, 2 processes, round 2: hung", "the &lt;last&gt; words", "noise", "memcpy", "not checked", "takes the benchmark aggregates, or the benchmark consistency"):
        assert said in source, said
    assert re.search(r"raw: 0\.5\d ", source) and re.search(r"raw: (2\.0\d|1\.9\d) ", source)
    drawn = {path.stem for path in (folder / page.PICTURES).glob("*.png")}
    assert {"transfers_put_np2_time", "transfers_put_np2_bandwidth", "mg_cases_np2", "map_transfers_np2", "map_kernels"} == {
        name for name in drawn if "get" not in name}


def test_a_report_is_looked_through(folder: Path, tmp_path: Path) -> None:
    def problems_of(path: Path, benchmarks: Sequence[str] = ("transfers", "mg")) -> str:
        return "\n".join(trial.problems(path, ("alpha", "beta"), benchmarks, ROUNDS))

    assert problems_of(folder) == ""
    assert problems_of(tmp_path) == "index.html is missing\nresults.json is missing\nresults.csv is missing"
    assert problems_of(folder, ["gups"]) == "not 5 rounds of alpha in gups\nnot 5 rounds of beta in gups"
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / page.PICTURES / "map_kernels.png").write_bytes(b"GIF")
    (broken / page.PAGE_NAME).write_text('<script></script><img src="https://example.org/x.png">')
    (broken / record.CSV_NAME).write_text("benchmark\n")
    said = problems_of(broken)
    for fault in ("map_kernels.png is no PNG", "the page needs <script", "the page needs https:", "0 lines of results.csv"):
        assert fault in said
    (broken / record.JSON_NAME).write_text("{}")
    assert "is no comparison" in problems_of(broken)


def test_a_second_report_leaves_no_pictures_of_the_first(tmp_path: Path) -> None:
    (tmp_path / page.PICTURES).mkdir()
    (tmp_path / page.PICTURES / "stale.png").touch()
    page.write(tmp_path, comparison(rounds("alpha", {("put", "8 B"): 10.0})))
    assert not list((tmp_path / page.PICTURES).iterdir())


def test_patches_are_drawn_in_the_order_of_their_bytes() -> None:
    asked = [{**case("put", 10.0, f"{side} x {side}"), "bytes": 8.0 * side * side} for side in (256, 4, 32)]
    made = comparison([run(name, asked) for name in ("alpha", "beta")])
    drawn = pictures.ratio_map("map", "map", made.cells.table, ("alpha", "beta"))
    assert drawn is not None
    said = drawn.svg.decode()
    assert said.index("<!-- 4 x 4 -->") < said.index("<!-- 32 x 32 -->") < said.index("<!-- 256 x 256 -->")


def test_a_library_alone_has_no_map() -> None:
    times = {(name, size): 10.0 for name in ("put", "get") for size in SIZES}
    table = comparison(rounds("alpha", times), rounds("beta", times)).cells.table
    assert pictures.ratio_map("map", "map", table, ("alpha", "beta")) is not None
    assert pictures.ratio_map("map", "map", table[table.candidate == "alpha"], ("alpha",)) is None


def test_an_axis_of_times_has_ticks_and_bars_have_units() -> None:
    table = made_up().cells.table
    [time, _] = pictures.curves("put", "put", table[(table.case == "get") & (table.candidate == "alpha")], ("alpha",))
    assert len(re.findall(r"<!-- \d+ ns -->", time.svg.decode())) > 1
    drawn = pictures.bars("mg", "mg", table[table.kernel], ("alpha", "beta"))
    assert drawn is not None and re.search(r"<!-- [\d.]+ ms; 0\.5\d x raw -->", drawn.svg.decode())
    assert "<!-- multigrid, 64 x 64 -->" in drawn.svg.decode()


def test_a_library_alone_is_shown_as_well() -> None:
    made = comparison(rounds("alpha", {("put", "8 B"): 10.0}))
    assert "no other library to win against" in page.render(made, page.build_sections(made), [])


def test_the_json_can_be_read_again(folder: Path) -> None:
    path = folder / record.JSON_NAME
    document = json.loads(path.read_text())
    assert document["schema"] == "armci-compare-1"
    assert {"environment", "plan", "noise", "contestants", "failures", "violations", "runs"} <= set(document)
    assert document["failures"][0]["contestant"] == FAILURE.candidate
    again = record.read(path).cells
    changes = earlier.changes(again, made_up().cells)
    assert len(changes) == 24 and all(one.agrees for one in changes)
    assert not earlier.regressions(changes)
    assert len(earlier.regressions(earlier.changes(again, made_up(scale=2.6).cells))) == 10


def test_what_was_different_at_the_earlier_run_is_reported(folder: Path) -> None:
    before = record.read(folder / record.JSON_NAME)
    assert before.title({"date": "now", "commit": "another"}).endswith("(2020-01-01 00:00 UTC, commit none)")
    slower = record.Earlier(before.path, before.cells, {**before.environment, "CPU": "Z80"})
    assert "different then: CPU Z80" in slower.title({"CPU": "another"})


@pytest.mark.parametrize("content, said", [("{", "is no JSON"), ('{"schema": "armci-bench-1"}', "is no comparison"), ("[]", "is no comparison"),
                                           ('{"schema": "armci-compare-1"}', "is damaged"),
                                           ("[" * 200_000, "is no JSON"),
                                           ('{"schema": "armci-compare-1", "runs": [{"data": "abc"}]}', "is damaged"),
                                           ('{"schema": "armci-compare-1", "runs": [{"data": {"cases": [{}]}}]}', "is damaged")])
def test_what_is_no_comparison_is_reported(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(ToolError, match=said) as raised:
        record.read(path)
    assert "results.json" in raised.value.next_step


def test_the_table_has_a_line_for_each_cell(folder: Path) -> None:
    lines = list(csv.DictReader(io.StringIO((folder / record.CSV_NAME).read_text())))
    assert len(lines) == len(made_up().cells)
    [line] = [one for one in lines if (one["case"], one["size"], one["contestant"]) == ("put", "64 KiB", "beta")]
    assert float(line["over_fastest"]) == pytest.approx(2.0, rel=0.02) and line["verdict"] == "slower"
    assert float(line["gb_per_s"]) == pytest.approx(65536 / 60, rel=0.02)


def test_the_screen_says_which_library_wins_and_what_is_wrong() -> None:
    made = made_up()
    made.changes, made.baseline = earlier.changes(collected(rounds("alpha", {("put", "8 B"): 5.0})), made.cells), "before"
    made.agreements = [earlier.Agreement("times", 3, 4)]
    said = text.render(made)
    assert re.search(r"transfers: put +alpha \(\d\.\d+x\)", said)
    assert "time over that of alpha, geometric mean (up to 1 KiB | up to 64 KiB | larger)" in said
    assert re.search(r"transfers: get +(2\.0\d|1\.9\d) \| (2\.0\d|1\.9\d) \| (2\.0\d|1\.9\d)\n", said)
    assert re.search(r"mg: multigrid, 64 x 64, 2 processes +0\.50 \(.*\) +2\.0\d \(", said)
    assert "checks violated" in said and "put n rows" in said
    assert re.search(r"on the node is no slower than between nodes +not checked +- +takes --baseline", said)
    assert "1 cells in both" in said and "3 of 4 times agree within their intervals (75.0 %)" in said
    assert "3 of 4 times agree" in page.render(made, [], [])
    assert "the <last> words" in said


@pytest.mark.parametrize("arguments, said", [
    (("--strict",), "--strict compares with an earlier run"),
    (("--baseline", "/no/such/file"), "cannot read /no/such/file"),
    (("--report", "/proc/none"), "cannot write the report"),
    (("--impl", "shmem", "--simulate-node-size", "1"), "it spans no nodes"),
    (("--libs", "-lother"), "--libs and --name are of a library"),
    (("--name", "other"), "--libs and --name are of a library"),
    (("--impl", "nothing"), "there is no implementation 'nothing'"),
    (("--impl", "shmem", "nothing"), "there is no benchmark nothing"),
])
def test_errors_say_what_and_what_next(arguments: tuple[str, ...], said: str) -> None:
    done = armci("compare", *arguments)
    assert done.returncode == 2
    assert said in done.stderr and "next:" in done.stderr and "Traceback" not in done.stderr
