# SPDX-License-Identifier: Apache-2.0
"""Creates root folders of a minimal Debian 12, in which commands run as on another machine. Packages come from the
mirror that this machine's apt uses. Each command has separate mount and process namespaces, so that no mount and no
process remains after a command, however it ended."""

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from typing import Dict, List

from commands import timed

SUITE = "bookworm"
PACKAGES = ("python3-venv", "g++")  # the packages that README requires, except for git
# Files with network settings of this machine, which are copied into a root folder.
FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
VARIABLES = re.compile(
    "PIP_(CERT|INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|PROXY|DEFAULT_TIMEOUT)"
    "|(https?|no|all)_proxy|SSL_CERT_FILE",
    re.IGNORECASE,
)
APT = r'(?m)^Acquire::(?:https?::.*(?:Proxy|CAInfo|Verify).*|Check-(?:Valid-Until|Date)) ".*";$'
# $1: the root, $2: the folder, $3: the user; followed by the command.
ENTER = """set -e
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
cd "$1"
exec chroot --userspec="$3:$3" "$1" /bin/sh -c 'cd "$0" && exec "$@"' "$2" "${@:4}"
"""


def missing() -> str:
    """Returns the reason why this machine cannot create a root folder, or ""."""
    if os.geteuid() != 0:
        return "only the user root can create a root folder of Debian"
    for program in ("debootstrap", "unshare", "chroot"):
        if not shutil.which(program):
            return f"{program} is not installed"
    if (
        subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True
        ).returncode
        != 0
    ):
        return "this machine permits no mount namespace"
    if not mirror():
        return f"apt has no source of Debian {SUITE}"
    return ""


def mirror() -> str:
    """Returns the address of the mirror from which this machine's apt installs Debian 12, or ""."""
    command = [
        "apt-get",
        "indextargets",
        "--format",
        "$(CODENAME) $(COMPONENT) $(REPO_URI)",
        "Identifier: Packages",
    ]
    try:
        listed = subprocess.run(command, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""
    match = re.search(rf"(?m)^{SUITE} main (\S+)$", listed)
    return match[1] if match else ""


@dataclasses.dataclass
class Completed:
    """A finished command."""

    code: int
    printed: str
    wall: float  # [s]
    cpu: float  # processor time of the command and all its child processes [s]


class System:
    """A root folder of Debian. Commands in the root folder inherit no environment variable of this machine except for
    network settings."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.environment: Dict[str, str] = {
            key: os.environ[key] for key in os.environ if VARIABLES.fullmatch(key)
        }
        self.environment["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    def run(
        self,
        *arguments: object,
        cwd: str = "/root",
        user: str = "root",
        limit: int = 3600,
        **variables: str,
    ) -> Completed:
        """Runs a command; after `limit` seconds the command ends with exit code 124."""
        home = "/root" if user == "root" else f"/home/{user}"
        namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        command = [
            "timeout",
            str(limit),
            *namespaces,
            "bash",
            "-c",
            ENTER,
            "enter",
            str(self.folder),
            cwd,
            user,
        ]
        environment = {**self.environment, "HOME": home, "USER": user, **variables}
        started = os.times().elapsed
        cpu, code, printed = timed(
            [*command, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL
        )
        return Completed(code, printed, os.times().elapsed - started, cpu)

    def check(self, *arguments: object, **options: str) -> str:
        """Runs a command that must succeed; returns what the command printed."""
        result = self.run(*arguments, **options)
        assert (
            result.code == 0
        ), f"{shlex.join(map(str, arguments))}: exit code {result.code}\n{result.printed[-8000:]}"
        return result.printed

    def copy(self, folder: pathlib.Path, packages: List[str]) -> "System":
        """Copies the root folder and installs additional packages in the copy."""
        subprocess.run(["cp", "-a", "--reflink=auto", self.folder, folder], check=True)
        copied = System(folder)
        if packages:
            copied.check(
                "apt-get",
                "install",
                "-y",
                "-q",
                "--no-install-recommends",
                *packages,
                DEBIAN_FRONTEND="noninteractive",
            )
        return copied


def make(folder: pathlib.Path) -> System:
    """Creates a root folder of Debian 12 in which only PACKAGES are installed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [
        "debootstrap",
        "--variant=minbase",
        f"--include={','.join(PACKAGES)}",
        SUITE,
        folder,
        mirror(),
    ]
    result = subprocess.run(
        [str(argument) for argument in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert result.returncode == 0, result.stdout[-4000:]
    for path in map(pathlib.Path, FILES):
        if path.exists():
            copy = folder / path.relative_to("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    settings = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout
    (folder / "etc/apt/apt.conf.d/10network").write_text(
        "\n".join([*re.findall(APT, settings), ""])
    )
    system = System(folder)
    system.check("apt-get", "update", "-q")
    return system
