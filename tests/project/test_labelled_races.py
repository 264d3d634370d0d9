# SPDX-License-Identifier: Apache-2.0
"""The score of racecheck on labelled programs, tested without the suites, which are not in this repository."""

import json
import sys

import pytest


@pytest.fixture(scope="module")
def suites(root):
    """Returns the modules labels, score and drawn_programs of bench/labelled_races."""
    sys.path.insert(0, str(root / "bench/labelled_races"))
    try:
        import drawn_programs
        import labels
        import score
    finally:
        sys.path.pop(0)
    return labels, score, drawn_programs


def test_labels_are_in_the_names(suites):
    labels, _, _ = suites
    hirace, scor = labels.SUITES["hirace"], labels.SUITES["scor"]
    assert hirace("pull_node_neighbors_cond_syncBug") == (True, False, False, False)
    assert hirace("push_node_neighbor_boundsBug_last") == (False, True, False, False)
    assert hirace("push_node_neighbor_boundsBug_last_guardBug") == (True, True, False, False)
    assert hirace("path_compression").is_clean()
    assert scor("race_interblock_blkatom") == (True, False, False, False)
    assert scor("norace_interblock_atom") == (False, False, False, False) and scor("norace_interblock_atom").is_clean()
    application, indigo3 = labels.SUITES["scor-applications"], labels.SUITES["indigo3"]
    assert application("1dconv.racy") == (True, False, False, False) and application("1dconv.clean").is_clean()
    assert indigo3("PR_CUDA_Pull_FloatType_NoRaceBug_NoFieldBug_SyncBug_NoBoundsBug_Block") == (True, False, False, False)
    assert indigo3("MIS_CUDA_V_Topo_Atomic_FieldBug_NbrBoundsBug_UninitializedBug") == (False, True, True, True)
    assert indigo3("CC_CUDA_E_Topo_IntType_Atomic_NoExcessThreadsBug_NoLivelockBug").is_clean()


def test_scores(suites):
    labels, score, _ = suites
    row = lambda name, races, invalid, text="": score.Row(name, labels.label_of_hirace(name), races, invalid, text, 1.5)  # noqa: E731
    rows = [row("a", False, False), row("b", True, False, "b: Race"), row("c_syncBug", True, False), row("d_atomicBug", False, False),
            row("e_boundsBug", False, True), row("f_boundsBug_syncBug", True, True), row("g_raceBug", None, None, "no result within 5 s")]  # fmt: skip
    assert score.score_of(rows) == (4, 2, 2, 1, 2, 2, 0, 0, 1, 10.5)
    context = {"suite": "hirace", "arguments": "g.egr 64 200", "level": "error", "seeds": 1}
    text = score.as_markdown([(context, rows)])
    assert "| hirace | g.egr 64 200 | error | 2 of 4 | 2 | 1 of 2 | 2 of 2 | 0 of 0 | 1 | 10 |" in text
    assert text.endswith("- hirace: b: reported: b: Race\n- hirace: d_atomicBug: missed\n- hirace: g_raceBug: missed no result within 5 s\n")


def test_kinds_of_bugs(suites):
    """A program of Indigo3 with several kinds of bugs counts for each kind. A finding of any tool in a clean program is
    a false alarm."""
    labels, score, _ = suites
    row = lambda name, *found, logged=None: score.Row(name, labels.label_of_indigo3(name), *found[:2], "k: Race", 1.0, found[2], logged)  # noqa: E731
    log = {"races": 0, "invalid": 0, "uninitialised": 4}
    rows = [row("BFS_RaceBug_NoBoundsBug", True, False, False), row("MIS_UninitializedBug_RaceBug", False, False, True, logged=log),
            row("CC_NoRaceBug", False, False, True), row("TC_NoRaceBug", False, False, False), row("PR_LivelockBug", False, False, False)]  # fmt: skip
    assert score.score_of(rows)[:8] == (2, 1, 2, 1, 0, 0, 1, 1)
    text = score.as_markdown([({"suite": "indigo3", "arguments": "", "level": "error", "seeds": 1}, rows)])
    assert "| RaceBug | 2 | 1 | 0 | 1 | 0 | 1 | 0 |\n| UninitializedBug | 1 | 0 | 0 | 1 | 0 | 0 | 0 |\n" in text
    assert "| LivelockBug | 1 | 0 | 0 | 0 | 1 | no tool | no tool |\n" in text and "| none | 2 | 0 | 0 | 1 | 1 | no tool | no tool |\n" in text
    missed = [row("CC_NbrBoundsBug", True, False, False, logged=logged) for logged in (None, log, {**log, "invalid": 1})]
    assert score.kinds_as_markdown(missed)[-1] == "| NbrBoundsBug | 3 | 3 | 0 | 0 | 0 | 1 | 2 |"
    assert "- indigo3: CC_NoRaceBug: reported: k: Race" in text and "- indigo3: MIS_UninitializedBug_RaceBug: missed" in text


def test_draw_of_indigo3(suites):
    """A draw contains clean programs and each kind of bug, does not depend on the order of the names, and differs
    between seeds."""
    labels, _, drawn_programs = suites
    names = [f"BFS/BFS_CUDA_V_{number}_{kind}_NoBoundsBug.cu" for number in range(20) for kind in (*labels.KINDS_OF_INDIGO3, "Atomic")]
    drawn = drawn_programs.draw(names, 28, 39)
    assert drawn == drawn_programs.draw(reversed(names), 28, 39) != drawn_programs.draw(names, 28, 40)
    assert len(set(drawn)) == 28 and set(drawn) < set(names)
    kinds = ["".join(labels.kinds_of_indigo3(name.split("/")[1][:-3])) or "clean" for name in drawn]
    assert kinds == [*["clean"] * 3, *labels.KINDS_OF_INDIGO3] * 2
    assert sorted(drawn_programs.draw(names, 1000, 39)) == sorted(names)


def test_results_are_those_of_their_rows(root, suites):
    """The tables in docs/racecheck.md agree with bench/results/labelled_races."""
    labels, score, _ = suites
    page = (root / "docs/racecheck.md").read_text()
    files = sorted((root / "bench/results/labelled_races").glob("*.json"))
    assert files
    for file in files:
        result = json.loads(file.read_text())
        label_of = labels.SUITES[result["context"]["suite"]]
        rows = [score.Row(**{**row, "label": labels.Label(**row["label"])}) for row in result["rows"]]
        assert [row.program for row in rows if row.label != label_of(row.program)] == []
        assert score.as_markdown([(result["context"], rows)]).splitlines()[2] in page, file
        if result["context"]["suite"] == "indigo3":
            assert "\n".join(score.kinds_as_markdown(rows)[1:]) in page, file
