# SPDX-License-Identifier: Apache-2.0
"""Commands on damaged and hostile libraries change nothing outside the library, and end with a message."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

import hostile
import pytest
from kernkit import cli
from kernkit.codegen.cpp import line_parser
from kernkit.commands import update
from kernkit.project import manifest
from kernkit.scaffold import history, kept_rendering, rendering
from rendering import files_below

SCHEMA = "(Tensor(a!) y, Tensor x) -> ()"
COMMANDS = [["update"], ["update", "--with", "scratch"], ["remove", "silu_and_mul"], ["remove", "silu_and_mul", "--force"],
            ["add", "swish", SCHEMA]]  # fmt: skip


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Returns a library in a git repository, in a folder that also contains files of other projects."""
    folder = tmp_path_factory.mktemp("original")
    settings = folder / "gitconfig"
    line_parser.parse("op", SCHEMA)  # compiles the parser before a test replaces the temporary folder
    settings.write_text("[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n[gc]\nauto = 0\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(settings))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        rendering.render({**rendering.questions(), "library_name": "fast_ops"}, folder)
        history.begin(folder / "fast_ops")
        # Packs git's objects, so that each copy of the library has fewer files.
        hostile.git(folder / "fast_ops", "gc", "--quiet", limit=60)
        shutil.rmtree(folder / "fast_ops/.git/hooks", ignore_errors=True)
        (folder / "sentinel/deeper").mkdir(parents=True)
        (folder / "kept").mkdir()
        (folder / "sentinel/mine.txt").write_text("mine\n")
        (folder / "sentinel.txt").write_text("mine\n")
        (folder / "outer").mkdir()
        for name in ("outer", "."):  # a repository to which a hostile `.git` may refer, and a repository around the library
            hostile.git(folder / name, "init", "--quiet")
            hostile.git(folder / name, "commit", "--quiet", "--allow-empty", "-m", "Mine")
        yield folder


@pytest.fixture
def workspace(original, tmp_path, monkeypatch):
    """Copies the folder that contains the library `original`, enters the copy of the library, and returns the copied
    folder."""
    shutil.copytree(original, tmp_path / "place", symlinks=True)
    monkeypatch.chdir(tmp_path / "place/fast_ops")
    return tmp_path / "place"


@pytest.fixture
def rendered_once(monkeypatch):
    """Replaces rendering.render() by a function that renders each set of answers only once for all tests."""
    real = rendering.render

    def render(answers, output):
        name = json.dumps(answers, sort_keys=True)
        if name not in _RENDERED:
            real(answers, output)
            _RENDERED[name] = files_below(output / answers["library_name"]), output / answers["library_name"]
            modes = {path: os.stat(output / answers["library_name"] / path).st_mode for path in _RENDERED[name][0]}
            _RENDERED[name] = _RENDERED[name][0], modes
            return
        for path, content in _RENDERED[name][0].items():
            full = output / answers["library_name"] / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_bytes(content)
            full.chmod(_RENDERED[name][1][path])

    monkeypatch.setattr(rendering, "render", render)


_RENDERED = {}


def run(arguments):
    """Runs `kernkit` with these arguments. Returns the exit code, or the traceback of an exception."""
    try:
        return cli.main(arguments)
    except BaseException:
        return traceback.format_exc()


def try_mutation(original, folder, seed, monkeypatch):
    """Runs a random command in a copy of the library with damage that `seed` determines. Returns "" if the command ends
    with exit code 0, 1 or 3 and changes nothing outside the library, otherwise a description of the failure."""
    shutil.copytree(original, folder, symlinks=True)
    library = folder / "fast_ops"
    mutation = hostile.Mutation(library, seed)
    mutation.apply()
    arguments = mutation.generator.choice(COMMANDS)
    before = hostile.around(folder, "fast_ops")
    with monkeypatch.context() as patch:
        patch.chdir(library)
        if mutation.generator.random() < 0.03:
            patch.setenv("PATH", "/none")
        code = run(arguments)
    after = hostile.around(folder, "fast_ops")
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    shutil.rmtree(folder)
    if changed or code not in (0, 1, 3):
        return f"seed {seed}: {mutation.notes}: kernkit {' '.join(arguments)}: {code}; changed outside: {changed}"
    return ""


def try_all(original, folder, seeds, monkeypatch, capsys):
    monkeypatch.setattr(update, "version", lambda: "0.1.1")
    wrong = [failure for seed in seeds if (failure := try_mutation(original, folder / str(seed), seed, monkeypatch))]
    printed = capsys.readouterr()
    assert wrong == []
    assert "Traceback" not in printed.err + printed.out
    return printed.err


@pytest.fixture
def in_memory(tmp_path, monkeypatch):
    """Yields a folder for many copies of the library. The folder is in /dev/shm if that is writable, because a disk is
    ten times slower."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path) as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield pathlib.Path(folder)


def test_mutated_libraries(original, in_memory, rendered_once, monkeypatch, capsys):
    try_all(original, in_memory, range(60), monkeypatch, capsys)


@pytest.mark.slow
def test_a_thousand_mutated_libraries(original, in_memory, rendered_once, monkeypatch, capsys):
    printed = try_all(original, in_memory, range(1000, 2000), monkeypatch, capsys)
    for sentence in ("is a symbolic link", "restore it from git", "git merge failed", "which is not a path of the library",
                     "is damaged", "not a valid op name", "git could not restore", "not committed"):  # fmt: skip
        assert sentence in printed, sentence


@pytest.mark.parametrize(
    "arguments, path",
    [*((COMMANDS[0], path) for path in ("../../sentinel", "../../../../sentinel.txt", "/sentinel", "a/../../x", "a b", "A")),
     *((arguments, "../../../sentinel") for arguments in COMMANDS[1:])],
    ids=str,
)  # fmt: skip
def test_a_removed_op_is_a_name(workspace, path, arguments, capsys):
    record = json.loads((workspace / "fast_ops/.kernkit.json").read_text())
    record["answers"]["removed"] = path
    (workspace / "fast_ops/.kernkit.json").write_text(json.dumps(record))
    hostile.git(workspace / "fast_ops", "commit", "--all", "--quiet", "-m", "Cloned")
    before = hostile.snapshot(workspace / "fast_ops"), hostile.around(workspace, "fast_ops")
    assert run(arguments) == 3
    assert f'.kernkit.json has removed "{path}", which is not a valid op name; restore it' in capsys.readouterr().err
    assert (hostile.snapshot(workspace / "fast_ops"), hostile.around(workspace, "fast_ops")) == before


@pytest.mark.parametrize("path", ["../sentinel.txt", "{0}/sentinel.txt", ".git/hooks/post-merge", "a/.GIT/config", "a//b", "."])
def test_what_was_rendered_is_in_the_library(workspace, path, capsys):
    """A recorded rendering with a path outside the library is rejected, even if the manifest has the digest of the
    changed record."""
    copy = workspace / "fast_ops/third_party/kernkit"
    content = {path.replace("{0}", str(workspace)): [False, "theirs\n"]}
    (copy / "RENDERED").write_bytes(kept_rendering.base64.b64encode(kept_rendering.bz2.compress(json.dumps(content).encode())))
    manifest.write(str(copy), "0.1.0")
    hostile.git(workspace / "fast_ops", "commit", "--all", "--quiet", "-m", "Cloned")
    before = hostile.around(workspace, "fast_ops")
    assert run(["update"]) == 3
    assert "third_party/kernkit/RENDERED has the path " in capsys.readouterr().err
    assert hostile.around(workspace, "fast_ops") == before


@pytest.mark.parametrize(
    "command, path",
    [
        ("update", ".kernkit.json"),
        ("remove silu_and_mul", "kernels"),
        ("remove silu_and_mul", "kernels/silu_and_mul"),
        ("remove silu_and_mul", "tests/silu_and_mul_test.cc"),
        ("remove silu_and_mul --force", "kernels/CMakeLists.txt"),
        ("add swish", "tests"),
        ("add swish", "kernels/CMakeLists.txt"),
    ],
)
def test_links_are_not_followed(workspace, command, path, capsys):
    outside = workspace / "kept/theirs"
    shutil.move(workspace / "fast_ops" / path, outside)
    (workspace / "fast_ops" / path).symlink_to(outside)
    hostile.git(workspace / "fast_ops", "add", "--all")
    hostile.git(workspace / "fast_ops", "commit", "--quiet", "-m", "Cloned")
    before = hostile.around(workspace, "fast_ops")
    arguments = command.split() + [SCHEMA] * command.startswith("add")
    assert run(arguments) == 3
    assert f"{path} is a symbolic link, " in capsys.readouterr().err
    assert hostile.around(workspace, "fast_ops") == before


def test_add_does_not_write_through_a_link(workspace, capsys):
    (workspace / "fast_ops/tests/swish_test.cc").symlink_to(workspace / "made")
    assert run(["add", "swish", SCHEMA]) == 3
    assert "tests/swish_test.cc exists and is not overwritten" in capsys.readouterr().err
    assert not (workspace / "made").exists() and not (workspace / "fast_ops/kernels/swish").exists()


def test_a_licence_in_the_record_is_a_licence(workspace, capsys):
    """An unsupported licence in the record is rejected, so the text of the licence cannot become code in the files that
    `kernkit add` writes."""
    record = workspace / "fast_ops/.kernkit.json"
    record.write_text(record.read_text().replace('"Apache-2.0"', r'"MIT\nint theirs;"'))
    assert run(["add", "swish", SCHEMA]) == 3
    assert 'has licence "MIT\\nint theirs;", which is unsupported; supported: Apache-2.0, MIT' in capsys.readouterr().err


def test_folders_that_are_nested_deeply(workspace, capsys):
    folder, limit = workspace / "fast_ops/kernels", sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's default; other packages in this process may have increased the limit
    try:
        os.chdir(folder)
        for _ in range(1500):
            os.mkdir("a")
            os.chdir("a")
        os.chdir(workspace / "fast_ops")
        assert run(["remove", "silu_and_mul"]) == 3
        assert "remove: files or folders are nested too deeply" in capsys.readouterr().err
        assert (folder / "silu_and_mul/silu_and_mul.cc").exists()
    finally:  # pytest cannot delete folders that are nested so deeply
        os.chdir(workspace)
        subprocess.run(["rm", "-rf", folder], check=True)
        sys.setrecursionlimit(limit)


def test_nothing_is_half_removed(workspace, monkeypatch, capsys):
    from kernkit.project import op_files

    def full(*_):
        raise OSError(28, "No space left on device", "kernels")

    monkeypatch.setattr(op_files, "record_removed", full)
    hostile.git(workspace / "fast_ops", "status")
    before = hostile.snapshot(workspace / "fast_ops", ".git")
    assert run(["remove", "silu_and_mul"]) == 3
    assert "kernels: No space left on device" in capsys.readouterr().err
    after = hostile.snapshot(workspace / "fast_ops", ".git")
    assert {path: value[::2] for path, value in after.items()} == {path: value[::2] for path, value in before.items()}
