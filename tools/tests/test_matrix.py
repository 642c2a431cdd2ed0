"""The matrix says of every clause what became of it, in all its forms, and the page is sound HTML."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Optional
from xml.etree import ElementTree

import pytest
from armci_tool import matrix, matrix_report
from armci_tool.errors import ToolError
from armci_tool.matrix import NOT_COVERED
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case
from made_up import CLAUSES, FAILURE, TESTS, made_up, mutation, run

VOID_ELEMENTS = frozenset({"meta", "br", "link", "img", "hr", "input"})


class Page(HTMLParser):
    """The page as a browser would read it; complains about tags that do not pair."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.widths: list[list[int]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self.loaded += [given[name] for name in ("src", "href", "action", "data") if name in given and tag != "a"]
        if tag == "table":
            self.widths.append([])
        elif tag == "tr":
            self.widths[-1].append(0)
        elif tag in ("td", "th"):
            self.widths[-1][-1] += int(given.get("colspan", 1))
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        """All that can be read."""
        return " ".join(" ".join(self.words).split())


@pytest.fixture(name="page", scope="module")
def rendered() -> Page:
    return Page(matrix_report.html(made_up()))


def verdicts(clause: str) -> list[str]:
    return next([cell["verdict"] for cell in row["cells"]] for row in made_up().data["clauses"] if row["id"] == clause)


@pytest.mark.parametrize("clause, expected", [
    ("FAKE-1", [PASSED, FAILED, KNOWN]),
    ("FAKE-2", [PASSED, KNOWN, KNOWN]),
    ("FAKE-3", [SKIPPED] * 3),
    ("OTHER-1", [NOT_COVERED] * 3),
    ("OTHER-2", [NOT_COVERED] * 3),
    ("OTHER-3", [NOT_COVERED] * 3),
])
def test_verdict_of_a_clause_is_the_worst_of_its_tests(clause: str, expected: list[str]) -> None:
    assert verdicts(clause) == expected


def test_a_skip_does_not_hide_a_pass() -> None:
    made = matrix.build([run(Case("A.both", PASSED), Case("A.one", SKIPPED, 0.0, "x"))], CLAUSES, TESTS, {})
    assert made.data["clauses"][0]["cells"][0]["verdict"] == PASSED


def test_a_run_that_was_given_up_says_nothing_of_clauses_that_it_did_not_finish() -> None:
    given_up = run(Case("A.one", PASSED), Case("A.three", SKIPPED), Case("(job 1)", FAILED), Case("(rest)", FAILED))
    cells = [row["cells"][0] for row in matrix.build([given_up], CLAUSES, TESTS, {}).data["clauses"]]
    assert cells[0]["reason"] == "the run was given up before all its tests had run"
    assert [cell["verdict"] for cell in cells[:3]] == [NOT_COVERED, NOT_COVERED, SKIPPED]


def test_reasons_are_given_for_what_was_not_tested() -> None:
    reasons = {row["id"]: row["cells"][0].get("reason") for row in made_up().data["clauses"]}
    assert reasons["FAKE-3"] == "needs 4 ranks"
    assert reasons["OTHER-1"] == "no test names it: it can only be seen with nodes"
    assert "none of its tests was chosen" in reasons["OTHER-2"]
    assert reasons["OTHER-3"] == "about time: the benchmark small judges it"


def test_litmus_outcomes_are_counted_by_run_and_class() -> None:
    [acceptable, interesting, forbidden] = made_up().data["litmus"]
    assert (acceptable["test"], acceptable["class"]) == ("L.litmus", "acceptable")
    assert acceptable["outcome"] == "r1=10 r2=0 <acceptable>"
    assert acceptable["counts"] == [90, 100, None]
    assert (interesting["counts"], forbidden["counts"]) == ([10, None, None], [0, None, None])


def test_flake_rate_stands_in_every_form(page: Page) -> None:
    made = made_up()
    said = "1 of 4 tests (25.0%) in 4 runs"
    assert said in page.text
    assert said in matrix_report.document(made)
    column = made.data["columns"][1]
    assert (column["repeats"], column["flaky"]) == (4, ["A.both"])


def test_facts_that_are_no_counts_are_left_alone() -> None:
    odd = Case("L.litmus", PASSED, 0.0, "", (("place", "here"), ("outcome.acceptable.x", "many")))
    assert not matrix.build([run(odd)], CLAUSES, TESTS, {}).data["litmus"]


def test_columns_have_titles_of_their_own() -> None:
    titles = [matrix.column_title(one) for one in made_up().runs]
    assert titles == ["fake/openmpi/2", "fake/mpich/4", "fake/openmpi/2/nodes of 2, simulated"]


def test_screen_leaves_out_what_did_not_run_and_the_document_does_not() -> None:
    assert "OTHER-2" not in matrix_report.screen(made_up())
    document = matrix_report.document(made_up())
    for clause in CLAUSES:
        assert clause.identifier in document
    for text in ("expected <1>", "ticket 12", "needs 4 ranks", "1 of 2 killed, score 50%", "interesting", "Fast <8>"):
        assert text in document


def test_all_files_tell_the_same(tmp_path: Path) -> None:
    text, data, junit, page = matrix_report.write(tmp_path / "report", made_up())
    assert [path.name for path in (text, data, junit, page)] == ["matrix.txt", "matrix.json", "junit.xml", "index.html"]
    read = json.loads(data.read_text())
    assert [column["title"] for column in read["columns"]] == [matrix.column_title(one) for one in made_up().runs]
    assert {clause["id"]: [cell["verdict"] for cell in clause["cells"]] for clause in read["clauses"]} == {
        clause.identifier: verdicts(clause.identifier) for clause in CLAUSES}
    assert read["clauses"][0]["tests"] == ["A.both", "A.one", "L.litmus"]
    [litmus] = [test for test in read["tests"] if test["name"] == "L.litmus"]
    assert litmus["clauses"] == ["FAKE-1"] and litmus["results"][2] is None
    assert read["litmus"][0]["counts"] == [90, 100, None]
    assert read["mutation"]["score"] == 0.5
    suites = ElementTree.parse(junit).getroot().findall("testsuite")
    assert [(suite.get("failures"), suite.get("skipped")) for suite in suites] == [("0", "1"), ("1", "2"), ("0", "3")]


def test_mutation_result_is_read_as_it_is_written(tmp_path: Path) -> None:
    assert matrix.read_mutation(tmp_path) is None
    _, data, _, _ = matrix_report.write(tmp_path / "report", made_up())
    (tmp_path / matrix.MUTANTS_FILE).write_text(json.dumps(json.loads(data.read_text())["mutation"]))
    assert matrix.read_mutation(tmp_path) == mutation()


def test_a_part_of_the_mutants_does_not_look_like_all() -> None:
    assert "only those of 'fence' were run" in mutation().copy(update={"part": "fence"}).text
    assert "only" not in mutation().text


@pytest.mark.parametrize("text", ["{", "[]", '{"mutants": [{"name": "x"}], "score": 1}',
                                  '{"mutants": [], "score": "x"}'])
def test_broken_mutation_result_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / matrix.MUTANTS_FILE).write_text(text)
    with pytest.raises(ToolError, match="mutation run"):
        matrix.read_mutation(tmp_path)


def test_page_loads_nothing_and_runs_nothing(page: Page) -> None:
    assert not page.loaded
    assert "script" not in page.tags
    assert "url(" not in matrix_report.html(made_up())


def test_every_link_leads_somewhere_and_names_are_unique(page: Page) -> None:
    assert len(set(page.ids)) == len(page.ids)
    assert page.links
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    for clause in CLAUSES:
        assert f"#t-{clause.identifier}" in page.links


def test_rows_of_a_table_are_equally_wide(page: Page) -> None:
    for widths in page.widths:
        assert len(set(widths)) == 1, widths


def test_page_says_all_there_is(page: Page) -> None:
    wanted = ["expected <1> & saw \"2\" </pre><script>alert(1)</script>", "ticket 12: <slow>", "needs <nodes>",
              "Fast <8> & co", "a < b & \"c\"", "ptr[p] <= 0", "a fence that < waits & returns", "score 50%",
              "survived", "r1=10 r2=0 <acceptable>", "nodes of 2, simulated", "no test names it: it can only be seen with nodes"]
    for text in wanted:
        assert text in page.text, text
    assert " ".join(FAILURE.split()) in page.text


def test_every_verdict_has_a_word_besides_its_colour(page: Page) -> None:
    for word in ("pass", "FAIL", "known", "skip", "none"):
        assert word in page.words or f" {word}" in page.words


def test_page_without_failures_litmus_and_mutants_is_sound() -> None:
    page = Page(matrix_report.html(matrix.build([run(Case("A.one", PASSED))], CLAUSES, TESTS, {})))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert not {"failures", "litmus", "mutants"} & set(page.ids)
