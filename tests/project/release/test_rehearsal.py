# SPDX-License-Identifier: Apache-2.0
"""A release from the tag to a library: a clone is tagged and built by ./kk release, its wheel is installed from a local
package index into an empty environment, and a library from the template uses the installed kernkit."""

import contextlib
import datetime
import functools
import hashlib
import http.server
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import threading

import pytest
from kernkit import sdk
from rendering import CALL, check, run
from release_files import ADDRESSES, addresses_file, commit, git

pytestmark = pytest.mark.slow
pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
NAME = "rehearsed_ops"


def environment_without(*names, **values):
    """Returns this process's environment variables, without variables of pip, of ./kk and of the compiled library."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("KK_", "VIRTUAL_ENV", *names)) and key != "LIBRARY"}
    return {**inherited, **values}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rehearsal")


@pytest.fixture(scope="module")
def clone(root, folder):
    """Returns a clone of the last commit, without the addresses and dates of a release."""
    if subprocess.run(["git", "rev-parse"], cwd=root, capture_output=True).returncode != 0:
        pytest.skip("this copy has no git repository")
    git(folder, "clone", "--quiet", "--no-hardlinks", root, "kernkit")
    return folder / "kernkit"


def enter(clone, version):
    """Writes addresses and today's date into the clone's files, as maintainers do before a release, and tags the
    commit."""
    today = datetime.date.today().isoformat()
    (clone / "addresses.toml").write_text(addresses_file())
    changelog, citation = clone / "CHANGELOG.md", clone / "CITATION.cff"
    changelog.write_text(re.sub(r"^## \S+ \(.*\)", f"## {version} ({today})", changelog.read_text(), count=1, flags=re.MULTILINE))
    remaining = re.sub(r"^(date-released|repository-code|url): .*\n", "", citation.read_text(), flags=re.MULTILINE)
    of_addresses = f"repository-code: {ADDRESSES['source_url']}\nurl: {ADDRESSES['site_url']}\n"
    citation.write_text(f"{remaining}date-released: {today}\n{of_addresses}")
    commit(clone, "Release")
    git(clone, "tag", f"v{version}")


@pytest.fixture(scope="module")
def version(clone):
    return sdk.version_of(clone / "sdk")


@pytest.fixture(scope="module")
def dist(clone, version):
    """Returns the folder dist/ after ./kk release of the tagged commit."""
    result = run("./kk", "release", "--check", cwd=clone, env=environment_without(KK_VENV=sys.prefix))
    missing = [line for line in result.stdout.splitlines() if 'is "unset"' in line]
    if result.returncode == 1 and len(missing) == len(ADDRESSES):  # The repository has no addresses yet.
        enter(clone, version)
    else:
        assert missing == [], result.stdout
        git(clone, "tag", "--force", f"v{version}")
    print(check("./kk", "release", cwd=clone, env=environment_without(KK_VENV=sys.prefix)))
    assert git(clone, "status", "--porcelain") == ""
    return clone / "dist"


def test_the_checksums_are_those_of_the_files(dist, version):
    listed = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert listed.keys() == {f"kernkit-{version}-py3-none-any.whl", f"kernkit-{version}.tar.gz", f"kernkit-{version}.cdx.json"}
    assert listed == {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in listed}


def test_the_bill_of_materials_lists_each_package_with_its_licence(dist, version):
    document = json.loads((dist / f"kernkit-{version}.cdx.json").read_text())
    assert (document["bomFormat"], document["metadata"]["component"]["version"]) == ("CycloneDX", version)
    components = {component["name"].lower(): component for component in document["components"]}
    assert {"apache-tvm-ffi", "cookiecutter", "auditwheel", "text-unidecode"} <= components.keys()
    assert not {"pip", "setuptools", "kernkit"} & components.keys() and "file:" not in json.dumps(document)
    without = {name for name, component in components.items() if not component.get("licenses")}
    assert without <= {"cookiecutter"}  # the metadata of cookiecutter names no licence


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """Yields the address of a web server on the loopback interface that serves a folder."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def add_to_index(simple, path):
    """Adds an archive and its checksum to the folder of a static package index."""
    project = simple / re.sub("[-_.]+", "-", path.name.partition("-")[0]).lower()
    project.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, project)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with (project / "index.html").open("a") as page:
        page.write(f'<a href="{path.name}#sha256={digest}">{path.name}</a>\n')


@pytest.fixture(scope="module")
def installed(dist, folder, version):
    """Returns an environment in which kernkit was installed from a local index. The index holds the release and the
    packages that kernkit requires."""
    (wheel,) = dist.glob("*.whl")
    downloads = folder / "downloads"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "-d", downloads, wheel]
    if subprocess.run([str(argument) for argument in command]).returncode != 0:
        pytest.skip("the packages that kernkit requires cannot be downloaded")
    simple = folder / "index/simple"
    for path in downloads.iterdir():
        add_to_index(simple, path)
    environment = folder / "environment"
    check(sys.executable, "-m", "venv", environment)
    with served(folder / "index") as address:
        check(environment / "bin/pip", "--isolated", "install", "--quiet", "--no-cache-dir", "--index-url", f"{address}/simple/",
              f"kernkit=={version}", env=environment_without("PIP_"))  # fmt: skip
    return environment


def test_the_installed_package_has_the_addresses(installed, version):
    (information,) = installed.glob(f"lib/python*/site-packages/kernkit-{version}.dist-info")
    metadata = importlib.metadata.PathDistribution(information).metadata
    source = ADDRESSES["source_url"]
    assert f"Source, {source}" in metadata.get_all("Project-URL")
    assert "Ann Example" in metadata["Author-Email"] and metadata["Author"] == "Bo Example"
    page = metadata.get_payload()
    assert f"]({source}/blob/v{version}/docs/" in page and "](docs/" not in page
    assert "unset" not in str(metadata.items())


def test_a_library_uses_the_installed_kernkit(installed, dist, folder, version):
    """All steps from `kernkit new` to a call of the library's wheel work with the installed kernkit."""
    variables = environment_without("PIP_FIND_LINKS", PIP_FIND_LINKS=str(dist))
    assert check(installed / "bin/kernkit", "--version") == f"kernkit {version}\n"
    check(installed / "bin/kernkit", "new", NAME, "--sdk", "find_package", "--cuda", "none", "--output", folder, env=variables)
    library = folder / NAME
    printed = check("./kk", "all", cwd=library, env=variables)
    assert re.search(r"\n[1-9]\d* passed, 0 failed", printed), printed[-4000:]
    kernkit = check(library / ".venv/bin/python", "-c", "import kernkit; print(kernkit.__file__)", cwd=folder, env=variables)
    assert kernkit.startswith(str(library / ".venv"))
    environment = folder / "caller"
    check(sys.executable, "-m", "venv", environment)
    (wheel,) = (library / "dist").glob("*.whl")
    check(environment / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "numpy", wheel)
    assert check(environment / "bin/python", "-c", CALL.format(name=NAME), cwd=folder).startswith("[[2.1932, -0.9536]]")
