# SPDX-License-Identifier: Apache-2.0
"""`kernkit update`: a newer template and SDK are merged, and the authors' changes stay."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from kernkit import cli
from kernkit.commands import update
from kernkit.project import manifest
from kernkit.scaffold import history, kept_rendering, rendering
from rendering import BUILD_OUTPUTS

LINE = "kernkit_add_kernel(fast_ops silu_and_mul)"


def git(folder, *arguments):
    result = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def commit(folder, message="Edits"):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)


def use_git_settings(monkeypatch, folder):
    """Replaces the user's git configuration by a configuration for tests, which is written into the folder."""
    settings = folder / "gitconfig"
    settings.write_text("[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture(autouse=True)
def git_settings(monkeypatch, tmp_path):
    use_git_settings(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """Returns the folder of a library of this kernkit in a separate repository, with edits of rendered files and an
    additional kernel."""
    output = tmp_path_factory.mktemp("rendered")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_git_settings(monkeypatch, output)
        rendering.render({**rendering.questions(), "library_name": "fast_ops"}, output)
        folder = output / "fast_ops"
        printed = history.begin(folder)
        assert printed == ("made a git repository with the rendering as its first commit, by "
                           "A <a@example.com>; --no-git makes no repository")  # fmt: skip
        assert git(folder, "log", "--format=%cn <%ce>") == "A <a@example.com>\n"
        (folder / "README.md").write_text("Ours.\n" + (folder / "README.md").read_text())
        (folder / "kernels/mine").mkdir()
        (folder / "kernels/mine/mine.cc").write_text("// mine\n")
        (folder / "tests/CMakeLists.txt").write_text("# all of it is ours now\n")
        commit(folder)
        git(folder, "repack", "-a", "-d", "--quiet")  # one pack file is copied faster than 1,000 files of objects
    return folder


@pytest.fixture
def library(rendered, tmp_path):
    """Returns a copy of the rendered library, which a test may change."""
    return shutil.copytree(rendered, tmp_path / "fast_ops", symlinks=True)


@pytest.fixture
def newer(root, tmp_path, monkeypatch):
    """Replaces kernkit's template and version by newer ones. Returns the folder of the library's files in the newer
    template, which a test may change."""
    shutil.copytree(root / "template", tmp_path / "template",
                    ignore=shutil.ignore_patterns("build", "__pycache__", ".*_cache"))  # fmt: skip
    monkeypatch.setattr(rendering, "template_folder", lambda: tmp_path / "template")
    tree = tmp_path / "template/{{cookiecutter.library_name}}"
    header = tree / "third_party/kernkit/include/kernkit/base/version.h"
    header.write_text(header.read_text().replace("MINOR 1", "MINOR 9"))
    monkeypatch.setattr(update, "version", lambda: "0.9.0")
    (tree / "kernels/CMakeLists.txt").open("a").write("# of the new template\n")
    (tree / "docs").mkdir(exist_ok=True)
    (tree / "docs/new.md").write_text("template_library has a new page\n")
    (tree / "third_party/kernkit/include/kernkit/types/shape.h").unlink()
    return tree


def run(folder, *arguments, code=0):
    assert cli.main(["update", "--library", str(folder), *arguments]) == code


def test_edits_stay_and_the_template_comes(library, newer, capsys):
    run(library)
    assert "fast_ops has kernkit 0.9.0" in capsys.readouterr().out
    assert (library / "README.md").read_text().startswith("Ours.\n")
    assert (library / "tests/CMakeLists.txt").read_text() == "# all of it is ours now\n"
    assert (library / "kernels/mine/mine.cc").exists()
    assert "# of the new template" in (library / "kernels/CMakeLists.txt").read_text()
    assert (library / "docs/new.md").read_text() == "fast_ops has a new page\n"
    sdk = library / "third_party/kernkit/include/kernkit"
    assert "MINOR 9" in (sdk / "base/version.h").read_text() and not (sdk / "types/shape.h").exists()
    record = json.loads((library / ".kernkit.json").read_text())
    assert record["version"] == "0.9.0" and record["answers"]["library_name"] == "fast_ops"
    assert git(library, "status", "--porcelain") == ""
    head = git(library, "rev-parse", "HEAD")
    run(library)
    assert "nothing to do: fast_ops is up to date with kernkit 0.9.0" in capsys.readouterr().out
    assert git(library, "rev-parse", "HEAD") == head


def test_without_a_git_author_the_first_commit_is_kernkits(tmp_path, monkeypatch):
    """Without settings of git, kernkit is the author of the first commit: git must not derive an author from the user's
    and the machine's names."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("EMAIL", raising=False)
    rendering.render({**rendering.questions(), "library_name": "fast_ops"}, tmp_path)
    assert "by kernkit, since git has no user.name" in history.begin(tmp_path / "fast_ops")
    assert git(tmp_path / "fast_ops", "log", "--format=%an %cn <%ce>") == "kernkit kernkit <kernkit@localhost>\n"
    run(tmp_path / "fast_ops", "--with", "plots")
    assert "kernkit kernkit" in git(tmp_path / "fast_ops", "log", "-1", "--format=%an %cn")


@pytest.mark.all
def test_a_second_update_starts_from_the_first(library, newer):
    run(library)
    (newer / "docs/new.md").write_text("again\n")
    (library / "docs/new.md").open("a").write("and ours\n")
    (library / "kernels/CMakeLists.txt").write_text(f"{LINE}\n# ours\n")
    commit(library)
    # The library and the template made conflicting changes of docs/new.md. Only the library changed
    # kernels/CMakeLists.txt.
    run(library, code=1)
    assert git(library, "diff", "--name-only", "--diff-filter=U") == "docs/new.md\n"
    assert (library / "kernels/CMakeLists.txt").read_text() == f"{LINE}\n# ours\n"


@pytest.mark.all
def test_updates_after_squash_merges(library, newer, monkeypatch):
    """Updates work after squash merges, which discard the commits of renderings: an update then uses the rendering
    recorded in the vendored copy."""
    for number, text in (("0.9.0", "first\n"), ("0.10.0", "second\n"), ("0.11.0", "third\n")):
        monkeypatch.setattr(update, "version", lambda number=number: number)
        (newer / "docs/new.md").write_text(text * 5)
        git(library, "checkout", "--quiet", "-b", f"to-{number}")
        run(library)
        git(library, "checkout", "--quiet", "main")
        git(library, "merge", "--quiet", "--squash", f"to-{number}")
        git(library, "commit", "--quiet", "-m", "Squashed")
        git(library, "branch", "--quiet", "-D", f"to-{number}")
        assert (library / "docs/new.md").read_text() == text * 5
    assert (library / "README.md").read_text().startswith("Ours.\n")
    head = git(library, "rev-parse", "HEAD")
    run(library)
    assert git(library, "rev-parse", "HEAD") == head, "nothing is to do"


@pytest.mark.all
def test_an_op_that_was_removed_stays_away(library, newer, monkeypatch, capsys):
    monkeypatch.chdir(library)
    assert cli.main(["remove", "silu_and_mul"]) == 0
    assert "silu_and_mul is still named in " in capsys.readouterr().out
    commit(library)
    for path in ("kernels/silu_and_mul/silu_and_mul.cu", "tests/test_silu_and_mul.py"):
        (newer / path).open("a").write("// the template's is newer\n")
    run(library)
    names = git(library, "ls-files", "--", ".", ":!third_party").split()
    assert not [name for name in names if "silu_and_mul" in name]
    assert LINE not in (library / "kernels/CMakeLists.txt").read_text()
    assert json.loads((library / ".kernkit.json").read_text())["answers"]["removed"] == "silu_and_mul"
    assert not any(manifest.changes(str(library / "third_party/kernkit")))
    run(library)
    assert "nothing to do" in capsys.readouterr().out


@pytest.mark.all
def test_conflicts_are_gits_and_nothing_is_lost(library, newer, capsys):
    listing = library / "kernels/CMakeLists.txt"
    listing.open("a").write("kernkit_add_kernel(fast_ops mine)\n")
    (library / "third_party/kernkit/include/kernkit/types/shape.h").open("a").write("// patched\n")
    commit(library)
    before = git(library, "rev-parse", "HEAD")
    run(library, code=1)
    output = capsys.readouterr().out
    assert "kernels/CMakeLists.txt\nthird_party/kernkit/include/kernkit/types/shape.h\n" in output
    text = listing.read_text()
    assert text.index("<<<<<<<") < text.index("fast_ops mine") < text.index("=======")
    assert text.index("=======") < text.index("# of the new template") < text.index(">>>>>>>")
    assert "// patched" in (library / "third_party/kernkit/include/kernkit/types/shape.h").read_text()
    git(library, "merge", "--abort")
    assert git(library, "rev-parse", "HEAD") == before
    run(library, code=1)  # the aborted update has no effect on this update
    listing.write_text("both\n")
    commit(library, "Update")
    run(library)
    assert listing.read_text() == "both\n"
    assert "nothing to do" in capsys.readouterr().out


def test_uncommitted_files_are_not_changed(library, newer, capsys):
    (library / "README.md").write_text("work\n")
    run(library, code=3)
    assert "the repository has uncommitted changes:\n M README.md\n" in capsys.readouterr().err
    assert (library / "README.md").read_text() == "work\n"
    git(library, "checkout", "--quiet", "README.md")
    (library / "docs").mkdir(exist_ok=True)
    (library / "docs/new.md").write_text("unknown to git\n")
    run(library, code=3)
    assert "docs/new.md" in capsys.readouterr().err
    assert (library / "docs/new.md").read_text() == "unknown to git\n"


@pytest.mark.all
def test_a_library_in_a_folder_of_a_repository(root, library, newer, tmp_path, monkeypatch, capsys):
    """Updates work for a library in a folder of a larger repository: the vendored copy records the first rendering. If
    the record is missing, the version of kernkit that made the first rendering restores the record."""
    shutil.rmtree(library / ".git")
    outer = tmp_path / "whole"
    (outer / "libs").mkdir(parents=True)
    shutil.move(library, outer / "libs/fast_ops")
    inner = outer / "libs/fast_ops"
    (outer / "README.md").write_text("of all\n")
    git(outer, "init", "--quiet")
    assert history.begin(inner) == "no git repository was made: the folder is in a git repository"
    record = inner / "third_party/kernkit/RENDERED"
    text = record.read_text()
    record.write_text("touched\n")
    commit(outer)
    run(inner, code=3)
    assert "pip install --no-index --find-links FOLDER kernkit==0.1.0 && kernkit update, then" in capsys.readouterr().err
    head = git(outer, "rev-parse", "HEAD^{tree}")
    with monkeypatch.context() as older:
        older.setattr(rendering, "template_folder", lambda: root / "template")
        older.setattr(update, "version", lambda: "0.1.0")
        run(inner)
    assert git(outer, "rev-parse", "HEAD^{tree}") == head
    git(outer, "reset", "--quiet", "--hard", "HEAD~")
    record.write_text(text)
    commit(outer)
    run(inner)
    assert (inner / "docs/new.md").exists() and (outer / "README.md").read_text() == "of all\n"
    assert (inner / "README.md").read_text().startswith("Ours.\n")


def test_the_manifest_of_an_earlier_kernkit_is_replaced(library, newer):
    """An update replaces a manifest with the file name of earlier versions, SEAL. The repository has lost the commit of
    the rendering, so only the vendored copy records the rendering."""
    copy = library / "third_party/kernkit"
    (copy / "MANIFEST").rename(copy / "SEAL")
    git(library, "update-ref", "-d", "HEAD")
    commit(library, "Everything")
    run(library)
    assert (copy / "MANIFEST").is_file() and not (copy / "SEAL").exists()
    assert not any(manifest.changes(str(copy))) and (library / "docs/new.md").exists()
    assert (library / "README.md").read_text().startswith("Ours.\n")


def test_a_rendering_that_was_amended_is_none(library, newer, capsys):
    """An amended commit of a rendering is not used as the base of an update: git would treat the amended changes as the
    template's and remove them."""
    (library / "third_party/kernkit/RENDERED").write_text("touched\n")
    commit(library)
    git(library, "reset", "--quiet", "--soft", "HEAD~2")
    git(library, "commit", "--quiet", "--amend", "--no-edit")
    run(library, code=3)
    assert "the history does not contain the rendering of kernkit 0.1.0" in capsys.readouterr().err


@pytest.mark.all
def test_components_of_a_library_stay_and_others_are_added(library, newer, capsys, monkeypatch):
    added = newer / "third_party/kernkit/tvm_ffi_compat"
    added.mkdir(exist_ok=True)
    (added / "probe.h").write_text("// a part\n")
    inside = library / "third_party/kernkit/tvm_ffi_compat/probe.h"
    run(library)
    assert not inside.exists()
    assert cli.main(["update", "--library", str(library), "--with", "tvm_ffi_compat"]) == 0
    assert inside.read_text() == "// a part\n"
    assert json.loads((library / ".kernkit.json").read_text())["answers"]["parts"] == "ptx,tvm_ffi_compat"
    (added / "probe.h").write_text("// newer\n")
    run(library)
    assert inside.read_text() == "// newer\n" and git(library, "status", "--porcelain") == ""
    assert not any(manifest.changes(str(library / "third_party/kernkit")))
    capsys.readouterr()
    assert cli.main(["update", "--library", str(library), "--with", "rugs"]) == 3
    assert '.kernkit.json: unsupported component "rugs"; supported components: ' in capsys.readouterr().err


@pytest.mark.all
def test_changes_in_the_copy_of_the_sdk_are_reported(library, newer, capsys):
    run(library)
    assert "by hand" not in capsys.readouterr().out
    (library / "third_party/kernkit/include/kernkit/list.h").open("a").write("// ours\n")
    (library / "third_party/kernkit_dev/simulator/executor.h").open("a").write("// ours\n")
    commit(library)
    run(library)
    output = ("third_party/kernkit was changed by hand: changed: include/kernkit/list.h\n"
            "third_party/kernkit_dev was changed by hand: changed: simulator/executor.h\n")  # fmt: skip
    assert capsys.readouterr().out.startswith(output)


@pytest.fixture
def single_folder(root, tmp_path, monkeypatch):
    """Returns a library that an earlier kernkit rendered with the single folder third_party/kernkit. Files in this
    folder were edited."""
    template = tmp_path / "earlier"
    shutil.copytree(root / "template", template, ignore=shutil.ignore_patterns("build", "__pycache__", ".*_cache"))
    with monkeypatch.context() as patch:
        patch.setattr(rendering, "template_folder", lambda: template)
        module = template / "{{cookiecutter.library_name}}/third_party/kernkit/python/kernkit/scaffold/components.py"
        text, call = module.read_text(), "    for path in filter(is_for_development, files_below(sdk)):\n"
        assert call in text
        module.write_text(text.replace(call, "    os.makedirs(development)\n    for path in ():\n"))
        answers = {key: value for key, value in rendering.questions().items() if key != "dev"}
        rendering.render({**answers, "library_name": "fast_ops"}, tmp_path)
    folder = tmp_path / "fast_ops"
    (folder / "third_party/kernkit_dev/MANIFEST").unlink()
    (folder / "third_party/kernkit_dev").rmdir()
    record = json.loads((folder / ".kernkit.json").read_text())
    del record["answers"]["dev"]
    (folder / ".kernkit.json").write_text(json.dumps(record))
    kept_rendering.keep(str(folder), "0.1.0")
    history.begin(folder)
    (folder / "README.md").write_text("Ours.\n" + (folder / "README.md").read_text())
    (folder / "third_party/kernkit/simulator/executor.h").open("a").write("// ours\n")
    (folder / "third_party/kernkit/simulator/added.h").write_text("// ours\n")
    commit(folder)
    return folder


def test_a_library_with_one_folder_gets_two(single_folder, capsys):
    """An update moves development files from third_party/kernkit to third_party/kernkit_dev, and changes made by hand
    move with their files."""
    folder = single_folder
    assert not (folder / "third_party/kernkit_dev").exists()
    run(folder, code=1)  # exit code 1: git reports a conflict, because a file was added to a folder that the update moves
    output = capsys.readouterr().out
    assert output.startswith("third_party/kernkit was changed by hand: changed: simulator/executor.h; added: simulator/added.h\n")
    assert "third_party/kernkit_dev/simulator/added.h\n" in output
    commit(folder, "Update")
    sdk, development = (folder / f"third_party/{name}" for name in ("kernkit", "kernkit_dev"))
    assert not (sdk / "simulator").exists() and (sdk / "include/kernkit/tensor.h").is_file()
    assert (development / "simulator/executor.h").read_text().endswith("\n// ours\n")
    assert (development / "simulator/added.h").read_text() == "// ours\n"
    assert (folder / "README.md").read_text().startswith("Ours.\n")
    assert not any(manifest.changes(str(sdk)))
    assert str(manifest.changes(str(development))) == "changed: simulator/executor.h; added: simulator/added.h"
    assert json.loads((folder / ".kernkit.json").read_text())["answers"]["dev"] == "copied"
    run(folder)
    assert "nothing to do" in capsys.readouterr().out


def test_development_files_leave_and_come_back(library, capsys):
    development = library / "third_party/kernkit_dev"
    text = (development / "simulator/executor.h").read_text()
    run(library, "--without", "rugs", code=3)
    assert "--without: rugs is not a component of this library, which has dev, ptx\n" in capsys.readouterr().err
    run(library, "--without", "dev", "--with", "dev", code=3)
    assert "--without: dev is in --with\n" in capsys.readouterr().err
    run(library, "--without", "dev,ptx")
    record = json.loads((library / ".kernkit.json").read_text())
    assert (record["answers"]["dev"], record["answers"]["parts"]) == ("installed", "")
    assert not development.exists() and (library / "README.md").read_text().startswith("Ours.\n")
    assert not any(manifest.changes(str(library / "third_party/kernkit"))) and git(library, "status", "--porcelain") == ""
    # The record in third_party/kernkit is sufficient to restore the rendering, without the rendering's commit and
    # without third_party/kernkit_dev.
    shutil.rmtree(library / ".git")
    git(library, "init", "--quiet")
    commit(library, "Squashed")
    run(library, "--with", "dev")
    assert (development / "simulator/executor.h").read_text() == text and not any(manifest.changes(str(development)))
    assert not (development / "simulator/ptx").exists()
    assert (library / "README.md").read_text().startswith("Ours.\n")


def test_a_kept_rendering_needs_both_folders(library, tmp_path):
    """The rendering that third_party/kernkit records is not restored if third_party/kernkit_dev is changed, is missing,
    or belongs to another rendering."""
    (tmp_path / "whole").mkdir()
    assert kept_rendering.restore(str(library), str(tmp_path / "whole"))
    copied = "third_party/kernkit_dev/simulator/executor.h"
    assert (tmp_path / "whole" / copied).read_bytes() == (library / copied).read_bytes()
    assert not any(manifest.changes(str(tmp_path / "whole/third_party/kernkit_dev")))
    shutil.copytree(library / "third_party/kernkit_dev", tmp_path / "aside")
    (library / copied).open("a").write("// ours\n")
    (tmp_path / "none").mkdir()
    assert not kept_rendering.restore(str(library), str(tmp_path / "none"))
    manifest.write(str(library / "third_party/kernkit_dev"), "0.1.0")  # a manifest of another rendering
    assert not kept_rendering.restore(str(library), str(tmp_path / "none"))
    shutil.rmtree(library / "third_party/kernkit_dev")
    assert not kept_rendering.restore(str(library), str(tmp_path / "none")) and not any((tmp_path / "none").iterdir())
    shutil.move(tmp_path / "aside", library / "third_party/kernkit_dev")
    assert kept_rendering.restore(str(library), str(tmp_path / "none"))


def test_a_library_that_cannot_be_updated_is_rejected(library, tmp_path, monkeypatch, capsys):
    run(tmp_path, code=3)
    assert f"{tmp_path}/.kernkit.json not found" in capsys.readouterr().err
    monkeypatch.setattr(update, "version", lambda: "0.0.9")
    run(library, code=3)
    assert "this kernkit is 0.0.9, and the library has 0.1.0 already" in capsys.readouterr().err
    record = pathlib.Path(library, ".kernkit.json")
    for broken in ("{", "[]", '{"version": "1"}', '{"version": "1", "answers": {}}'):
        record.write_text(broken)
        run(library, code=3)
        assert "restore it from git" in capsys.readouterr().err


# Tests of updates by the library's own ./kk, which uses a vendored copy of kernkit without the template.


@pytest.fixture
def checkout(root, tmp_path):
    """Returns a folder with the sources of a later version of kernkit and of its template."""
    folder = tmp_path / "next kernkit"
    for part in ("sdk", "template"):
        shutil.copytree(root / part, folder / part, symlinks=True, ignore=lambda *_: BUILD_OUTPUTS)
    for file in ("pyproject.toml", "addresses.toml", "README.md", "LICENSE", ".clang-format"):
        shutil.copy(root / file, folder)
    header = folder / "sdk/include/kernkit/base/version.h"
    header.write_text(header.read_text().replace("MINOR 1", "MINOR 9"))
    listing = folder / "template/{{cookiecutter.library_name}}/kernels/CMakeLists.txt"
    listing.open("a").write("# of the new template\n")
    return folder


def kk_update(library, *arguments, code=0, **environment):
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    result = subprocess.run(
        ["./kk", "update", *map(str, arguments)], cwd=library, capture_output=True, text=True,
        env={**inherited, "KK_VENV": sys.prefix, **environment},
    )  # fmt: skip
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def is_new(library):
    header = library / "third_party/kernkit/include/kernkit/base/version.h"
    assert "MINOR 9" in header.read_text()
    assert "# of the new template" in (library / "kernels/CMakeLists.txt").read_text()
    assert (library / "README.md").read_text().startswith("Ours.\n")
    return True


@pytest.mark.all
def test_a_vendored_library_is_updated_from_a_checkout(library, checkout):
    assert "fast_ops has kernkit 0.9.0" in kk_update(library, "--from", checkout)
    assert is_new(library)
    assert "nothing to do" in kk_update(library, "--from", checkout)


def test_a_vendored_library_is_updated_by_an_installed_kernkit(library, checkout):
    """A library with a vendored copy is updated by an installed kernkit, which is on Python's path."""
    installed = checkout / "sdk/python"
    assert "fast_ops has kernkit 0.9.0" in kk_update(library, PYTHONPATH=str(installed))
    assert is_new(library)


@pytest.mark.all
def test_a_vendored_library_is_updated_from_a_wheel(library, checkout, tmp_path):
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", tmp_path / "wheels", checkout], check=True)
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert "fast_ops has kernkit 0.9.0" in kk_update(library, "--from", wheel, PIP_NO_INDEX="1")
    assert is_new(library)
    assert git(library, "status", "--porcelain") == ""


def test_without_another_kernkit_kk_names_the_required_one(library):
    output = kk_update(library, code=1)
    assert output.startswith("kk: no other kernkit than this library's copy is installed; run: "
                           "./kk update --from WHERE, a checkout")  # fmt: skip
    assert "--from needs a kernkit: a checkout of kernkit's repository" in kk_update(library, "--from", code=1)


def test_former_names_are_replaced(library, newer):
    """An update replaces former names in files of the library's authors, but not in the copy of the SDK."""
    (library / "tests/mine_test.cc").write_text(
        '#include "kernkit/cuda_on_cpu/runtime.h"\n#if defined(KERNKIT_CUDA_ON_CPU)\n'
        "kernkit::cuda_on_cpu::CudaRuntime runtime;\n#endif\n// my_cuda_on_cpu_note\nkernkit::Where line;\n"
    )
    (library / "tests/CMakeLists.txt").write_text(
        "kernkit_add_cuda_on_cpu(fast_ops)\nkernkit_add_on_ptx(fast_ops_objects)\n"
        "target_link_libraries(a PRIVATE fast_ops_cuda_on_cpu kernkit::cuda_on_cpu kernkit::cuda_on_ptx)\n"
    )
    (library / "notes.md").write_text("kernkit::cuda_on_cpu\n")
    commit(library)
    run(library)
    assert (library / "tests/mine_test.cc").read_text() == (
        '#include "kernkit/simulator/runtime.h"\n#if defined(KERNKIT_ON_FIBERS)\n'
        "kernkit::simulator::CudaRuntime runtime;\n#endif\n// my_cuda_on_cpu_note\nkernkit::SourceLocation line;\n"
    )
    assert (library / "tests/CMakeLists.txt").read_text() == (
        "kernkit_add_on_fibers(fast_ops)\nkernkit_add_simulated(fast_ops_objects)\n"
        "target_link_libraries(a PRIVATE fast_ops_on_fibers kernkit::simulator_fibers kernkit::simulator_ptx)\n"
    )
    assert (library / "notes.md").read_text() == "kernkit::cuda_on_cpu\n"
    assert sorted(git(library, "diff", "--name-only").split()) == ["tests/CMakeLists.txt", "tests/mine_test.cc"]
