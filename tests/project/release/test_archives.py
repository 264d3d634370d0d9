# SPDX-License-Identifier: Apache-2.0
"""Archives of a release have the same bytes in every folder, and archives whose bytes depend on their folder are
rejected with a message."""

import io
import os
import re
import subprocess
import tarfile
import textwrap
import zipfile

import pytest
from kernkit.driver import release
from kernkit.errors import UserError
from release_files import commit

pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")

PROJECT = {
    "pyproject.toml": """
        [build-system]
        requires = ["scikit-build-core"]
        build-backend = "scikit_build_core.build"
        [project]
        name = "small"
        version = "1.0"
        dynamic = ["description"]
        [tool.scikit-build]
        wheel.cmake = false
        wheel.py-api = "py3"
        wheel.reproducible = true
        [[tool.dynamic-metadata]]
        provider = {path = ".", module = "described"}
        """,
    "described.py": """
        import os
        def dynamic_metadata(settings, project):
            return {"description": "x"}
        """,
    "small/__init__.py": "",
}


@pytest.fixture
def builds(tmp_path, monkeypatch):
    """Returns build(path, text, replacement), which builds the archives of a small project after replacing the text in
    one of the project's files."""

    def build(path="pyproject.toml", text="", replacement=""):
        project = tmp_path / "project"
        for name, content in PROJECT.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            content = content.replace(text, replacement) if name == path and text else content
            (project / name).write_text(textwrap.dedent(content))
        commit(project)
        monkeypatch.setattr(release, "ROOT", project)
        (tmp_path / "builds").mkdir()
        return release.reproducible_archives("HEAD", tmp_path / "builds")

    return build


@pytest.mark.all
def test_a_project_is_built_in_two_folders_and_from_its_sdist(builds, tmp_path):
    former = os.umask(0o022)
    assert [path.name for path in builds()] == ["small-1.0-py3-none-any.whl", "small-1.0.tar.gz"]
    assert os.umask(former) == 0o022
    first, second = (tmp_path / "builds" / name / "pyproject.toml" for name, _ in release.FOLDERS)
    assert (first.stat().st_mode & 0o777, second.stat().st_mode & 0o777) == (0o644, 0o600)
    assert len(list((tmp_path / "builds").rglob("*.whl"))) == 3


@pytest.mark.all
@pytest.mark.parametrize(
    "path, text, replacement, place",
    [
        ("described.py", '"x"', "os.getcwd()", "small-1.0.dist-info/METADATA"),
        ("pyproject.toml", "wheel.reproducible = true", "", "small/__init__.py"),
    ],
)
def test_an_archive_that_depends_on_its_folder_is_an_error(builds, path, text, replacement, place):
    message = f"small-1.0-py3-none-any.whl: the archives of two folders differ at {place}; remove what depends on"
    with pytest.raises(UserError, match=re.escape(message)):
        builds(path, text, replacement)


def wheel(path, names, time=(2020, 1, 1, 0, 0, 0)):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in names.items():
            archive.writestr(zipfile.ZipInfo(name, time), content)
    return path


def sdist(path, names, mode=0o644):
    with tarfile.open(path, "w") as archive:
        for name, content in names.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            archive.addfile(member, io.BytesIO(content.encode()))
    return path


@pytest.mark.parametrize(
    "make, names, options, place",
    [
        (wheel, {"a": "1", "b": "3"}, {}, "at b"),
        (wheel, {"a": "1", "b": "2"}, {"time": (2021, 1, 1, 0, 0, 0)}, "at a"),
        (wheel, {"a": "1", "c": "2"}, {}, "at b and c"),
        (wheel, {"a": "1"}, {}, "in the order or number of files, or in their compression"),
        (sdist, {"a": "1", "b": "2"}, {"mode": 0o600}, "at a"),
    ],
)  # fmt: skip
def test_the_first_different_file_is_named(tmp_path, make, names, options, place):
    ending = {wheel: "x.whl", sdist: "x.tar"}[make]
    (tmp_path / "other").mkdir()
    archive = make(tmp_path / ending, {"a": "1", "b": "2"})
    assert release.difference(archive, make(tmp_path / "other" / ending, {"a": "1", "b": "2"})) == ""
    message = release.difference(archive, make(tmp_path / "other" / ending, names, **options))
    assert message == f"{ending}: the archives of two folders differ {place}; remove what depends on folder, umask or time"


@pytest.mark.slow
def test_kernkit_s_archives_are_reproducible(root, tmp_path):
    """Five builds of the last commit give the same archives."""
    if subprocess.run(["git", "rev-parse"], cwd=root, capture_output=True).returncode != 0:
        pytest.skip("this copy has no git repository")
    names = [path.suffix for path in release.reproducible_archives("HEAD", tmp_path)]
    assert names == [".whl", ".gz"]
