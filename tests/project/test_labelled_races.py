# SPDX-License-Identifier: Apache-2.0
"""The score of racecheck on labelled programs, without a suite: its programs are no part of this repository."""

import json
import sys

import pytest


@pytest.fixture(scope="module")
def suites(root):
    """The modules of bench/labelled_races."""
    sys.path.insert(0, str(root / "bench/labelled_races"))
    try:
        import labels
        import score
    finally:
        sys.path.pop(0)
    return labels, score


def test_labels_are_in_the_names(suites):
    labels, _ = suites
    hirace, scor = labels.SUITES["hirace"], labels.SUITES["scor"]
    assert hirace("pull_node_neighbors_cond_syncBug") == (True, False)
    assert hirace("push_node_neighbor_boundsBug_last") == (False, True)
    assert hirace("push_node_neighbor_boundsBug_last_guardBug") == (True, True)
    assert hirace("path_compression") == (False, False)
    assert scor("race_interblock_blkatom") == (True, False)
    assert scor("norace_interblock_atom") == (False, False)


def test_scores(suites):
    labels, score = suites
    row = lambda name, races, invalid, text="": score.Row(name, labels.label_of_hirace(name), races, invalid, text, 1.5)  # noqa: E731
    rows = [row("a", False, False), row("b", True, False, "b: Race"), row("c_syncBug", True, False), row("d_atomicBug", False, False),
            row("e_boundsBug", False, True), row("f_boundsBug_syncBug", True, True), row("g_raceBug", None, None, "no result within 5 s")]  # fmt: skip
    assert score.score_of(rows) == (4, 2, 2, 1, 2, 2, 1, 10.5)
    context = {"suite": "hirace", "arguments": "g.egr 64 200", "level": "error", "seeds": 1}
    text = score.as_markdown([(context, rows)])
    assert "| hirace | g.egr 64 200 | error | 2 of 4 | 2 | 1 of 2 | 2 of 2 | 1 | 10 |" in text
    assert text.endswith("- hirace: b: reported: b: Race\n- hirace: d_atomicBug: missed\n- hirace: g_raceBug: missed no result within 5 s\n")


def test_results_are_those_of_their_rows(root, suites):
    """The tables in docs/racecheck.md are those of bench/results/labelled_races."""
    labels, score = suites
    page = (root / "docs/racecheck.md").read_text()
    files = sorted((root / "bench/results/labelled_races").glob("*.json"))
    assert files
    for file in files:
        result = json.loads(file.read_text())
        label_of = labels.SUITES[result["context"]["suite"]]
        rows = [score.Row(**{**row, "label": labels.Label(**row["label"])}) for row in result["rows"]]
        assert [row.program for row in rows if row.label != label_of(row.program)] == []
        assert score.as_markdown([(result["context"], rows)]).splitlines()[2] in page, file
