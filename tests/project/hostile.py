# SPDX-License-Identifier: Apache-2.0
"""Creates libraries whose metadata, files and repository are damaged or hostile; a seed determines the damage."""

import base64
import bz2
import contextlib
import json
import os
import pathlib
import random
import shutil
import stat
import subprocess

from kernkit.project import copies, manifest

# Paths that lead out of the library, into .git, or are invalid; {0} is the absolute path of the folder around the
# library.
ESCAPES = ["../../sentinel", "../sentinel.txt", "../../../../sentinel.txt", "{0}/sentinel", "{0}/sentinel.txt", "/", "..",
           "../", "a/../../../sentinel", "silu_and_mul/../../../sentinel", ".git/config", ".git/hooks/post-merge",
           "third_party/kernkit/../../../sentinel.txt", "x\0y", "", ".", "~", "kernels\n/x", "\udcff", "a" * 300]  # fmt: skip
VALUES = [None, True, -1, 1e308, 10**40, "", "x" * 5000, [], {}, [[]], {"a": {}}, "9" * 5000, "\ud800", "\x1b[31m", "0.1.0"]
METADATA = (".kernkit.json", "third_party/kernkit/RENDERED", "third_party/kernkit/MANIFEST", "third_party/kernkit_dev/MANIFEST",
            "kernels/CMakeLists.txt")  # fmt: skip
PATHS = (*METADATA, "kernels", "kernels/silu_and_mul", "kernels/silu_and_mul/silu_and_mul_export.cc", "tests", "bench",
         "tests/silu_and_mul_test.cc", "tests/test_silu_and_mul.py", "tests/swish_test.cc", "bench/swish_bench.cc", "kernels/swish",
         "third_party", "third_party/kernkit", "third_party/kernkit/src/kernkit.cc", "third_party/kernkit/include", "docs",
         "third_party/kernkit_dev", "third_party/kernkit_dev/simulator/executor.h",
         ".git", ".git/HEAD", ".git/index", ".git/objects", ".git/config", ".git/refs", ".git/hooks")  # fmt: skip


def snapshot(folder: pathlib.Path, without: str = "") -> dict:
    """Returns the kind, mode, modification time and content of everything in a folder; links are not followed."""
    states = {}
    for parent, folders, names in os.walk(folder):
        if without and parent == str(folder):
            folders[:] = [name for name in folders if name != without]
        for name in folders + names:
            path = os.path.join(parent, name)
            about = os.lstat(path)
            content = None
            if stat.S_ISLNK(about.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(about.st_mode):
                content = pathlib.Path(path).read_bytes()
            states[os.path.relpath(path, folder)] = (about.st_mode, about.st_mtime_ns if content is not None else 0, content)
    return states


def around(folder: pathlib.Path, library: str) -> dict:
    """Returns the snapshot of everything in `folder` except the library, which is a subfolder."""
    return snapshot(folder, library)


def git(folder, *arguments, limit=3):
    """Runs git in the repository of the folder itself, never in an enclosing repository, for at most `limit` seconds."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    with contextlib.suppress(subprocess.TimeoutExpired):  # git waits if a pipe replaces one of its files
        subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, check=False, timeout=limit)


class Mutation:
    """Damages a library by a random selection of the methods below; `notes` lists the selected methods."""

    def __init__(self, library: pathlib.Path, seed: int) -> None:
        self.library, self.generator, self.notes = library, random.Random(seed), []
        self.outside = library.parent

    def apply(self) -> None:
        changes = [self.record_value, self.record_bytes, self.record_escapes, self.rendered_escapes, self.rendered_bytes,
                self.manifest_content, self.listing, self.odd_file, self.odd_file, self.repository, self.git_settings, self.hook]  # fmt: skip
        for change in self.generator.sample(changes, self.generator.choice([1, 1, 1, 2, 3])):
            try:
                change()
            except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
                # An earlier change removed a file or key that this change needs.
                self.notes.append(f"{change.__name__} not possible: {error!r}")
            else:
                self.notes.append(change.__name__)
        if self.generator.random() < 0.7:  # commits the changes, as in a clone of a hostile repository
            git(self.library, "add", "--all")
            git(self.library, "commit", "--quiet", "--no-verify", "-m", "Mutated")

    def escape(self) -> str:
        return self.generator.choice(ESCAPES).replace("{0}", str(self.outside))

    def record_value(self) -> None:
        """Replaces, removes or adds a value of the library's record .kernkit.json."""
        path = self.library / ".kernkit.json"
        record = json.loads(path.read_text())
        mapping = self.generator.choice([record, record["answers"]])
        key = self.generator.choice([*mapping, "removed", "new"])
        if self.generator.random() < 0.2:
            mapping.pop(key, None)
        else:
            mapping[key] = self.generator.choice([*VALUES, self.escape()])
        if self.generator.random() < 0.1:
            record = self.generator.choice([*VALUES, [record]])
        path.write_text("[" * 100000 if self.generator.random() < 0.03 else json.dumps(record))

    def record_escapes(self) -> None:
        path = self.library / ".kernkit.json"
        record = json.loads(path.read_text())
        key = self.generator.choice(["removed", "removed", "removed", "library_name", "parts", "licence"])
        record["answers"][key] = ",".join([self.escape()] * self.generator.choice([1, 2]))
        path.write_text(json.dumps(record))

    def bytes_of(self, path: pathlib.Path) -> None:
        content = bytearray(path.read_bytes())
        for _ in range(self.generator.choice([1, 3, 30])):
            at = self.generator.randrange(len(content) + 1)
            how = self.generator.randrange(4)
            if how == 0:
                content[at:at] = bytes([self.generator.randrange(256)])
            elif how == 1:
                del content[at : at + self.generator.choice([1, 8, 5000])]
            elif how == 2 and at < len(content):
                content[at] = self.generator.randrange(256)
            else:
                content[at:at] = content[at : at + 20]
        path.write_bytes(bytes(content))

    def record_bytes(self) -> None:
        self.bytes_of(self.library / ".kernkit.json")

    def rendered_bytes(self) -> None:
        self.bytes_of(self.library / "third_party/kernkit/RENDERED")
        self.write_manifest()

    def write_manifest(self) -> None:
        """With a probability of 80 %, writes a manifest that agrees with the changed files."""
        if self.generator.random() < 0.8:
            manifest.write(str(self.library / copies.SDK), "0.1.0")

    def rendered_escapes(self) -> None:
        path = self.library / "third_party/kernkit/RENDERED"
        files = json.loads(bz2.decompress(base64.b64decode(path.read_bytes())))
        for _ in range(self.generator.choice([1, 3])):
            value = self.generator.choice([[False, "ours\n"], [True, "#!/bin/sh\n"], *VALUES, [False, "\ud800"], [1, "x"]])
            files[self.generator.choice([self.escape(), self.escape(), "kk/inside", "new"])] = value
        content = json.dumps(self.generator.choice([files, files, files, files, [], 1, list(files)])).encode()
        if self.generator.random() < 0.1:
            content = b"[" * 100000
        path.write_bytes(base64.b64encode(bz2.compress(content)))
        self.write_manifest()

    def manifest_content(self) -> None:
        path = self.library / self.generator.choice(copies.FOLDERS) / "MANIFEST"
        if self.generator.random() < 0.5:
            self.bytes_of(path)
        else:  # a matching digest
            files = json.dumps(self.generator.choice([*VALUES, {self.escape(): 1}, {"RENDERED": []}]))
            path.write_text(f"kernkit 1 sha256:{manifest._digest(f'1 {files}'.encode())}\n{files}\n")

    def listing(self) -> None:
        path = self.library / "kernels/CMakeLists.txt"
        if self.generator.random() < 0.5:
            self.bytes_of(path)
        else:
            call = self.generator.choice(["kernkit_add_kernel(fast_ops silu_and_mul", "#[[ kernkit_add_kernel(a silu_and_mul)", '("',
                                       "KERNKIT_ADD_KERNEL(fast_ops silu_and_mul) kernkit_add_kernel(fast_ops other)"])  # fmt: skip
            path.write_text(path.read_text().rstrip("\n") + " " + call)

    def odd_file(self) -> None:
        """Removes a random file or folder, or replaces the file or folder by a link, a pipe, a folder or an unreadable
        file."""
        path = self.library / self.generator.choice(PATHS)
        how = self.generator.choice(["link", "link", "link", "dangling", "cycle", "pipe", "folder", "file", "nothing", "unreadable", "empty"])
        store = self.outside / "kept"
        if how not in ("unreadable", "empty", "link") and os.path.lexists(path):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        if how == "link":  # the link refers to the original, which is moved out of the library
            if os.path.lexists(path):
                shutil.move(path, store / path.name)
            os.symlink(self.generator.choice([store / path.name, self.outside / "sentinel", self.outside / "sentinel.txt"]), path)
        elif how == "dangling":
            os.symlink(self.outside / "made by a link", path)
        elif how == "cycle":
            os.symlink(path.name, path)
        elif how == "pipe":
            os.mkfifo(path)
        elif how == "folder":
            (path / "inside").mkdir(parents=True)
        elif how == "file":
            path.write_bytes(b"\xff\x00")
        elif how == "unreadable":
            path.chmod(0)
        elif how == "empty":
            path.write_text("")

    def repository(self) -> None:
        git_folder = self.library / ".git"
        how = self.generator.randrange(12)
        if how == 0:
            shutil.rmtree(git_folder)
        elif how == 1:
            (git_folder / "HEAD").write_text(self.generator.choice(["", "ref: refs/heads/none\n", "junk", "0" * 40 + "\n"]))
        elif how == 2:
            git(self.library, "checkout", "--quiet", "--detach")
        elif how == 3:
            (git_folder / self.generator.choice(["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"])).write_text("junk\n")
        elif how == 4:
            (git_folder / self.generator.choice(["index.lock", "HEAD.lock", "refs/heads/main.lock", "ORIG_HEAD.lock"])).touch()
        elif how == 5:
            objects = [path for path in (git_folder / "objects").rglob("*") if path.is_file()]
            for path in self.generator.sample(objects, 3):
                path.chmod(0o644)
                path.write_bytes(b"junk")
        elif how == 6:
            shutil.rmtree(git_folder)
            git_folder.write_text(self.generator.choice(["gitdir: ../outer/.git\n", "gitdir: /none\n", "junk", "gitdir: .\n"]))
        elif how == 7:
            git(self.library, "config", "core.worktree", self.generator.choice(["../../sentinel", str(self.outside)]))
        elif how == 8:
            (git_folder / "config").write_text(self.generator.choice(["[", "[core]\nbare = true\n", "[core]\nrepositoryformatversion = 99\n"]))
        elif how == 9:
            (git_folder / "shallow").write_text("junk\n")
        elif how == 10:
            message = "A rendering\n\nKernkit-template: 0.1.0 fast_ops "
            tree = subprocess.run(["git", "write-tree"], cwd=self.library, capture_output=True, text=True, timeout=3).stdout
            git(self.library, "commit", "--quiet", "--allow-empty", "-m", message + self.generator.choice([tree, "0" * 40, "junk"]))
        else:
            git(self.library, "update-index", "--assume-unchanged", "README.md", "kernels/silu_and_mul/silu_and_mul.cc")

    def git_settings(self) -> None:
        name, value = self.generator.choice([
            ("commit.gpgsign", "true"), ("merge.verifySignatures", "true"), ("branch.main.mergeOptions", "--no-commit"),
            ("branch.main.mergeOptions", "-s ours"), ("pull.twohead", "ours"), ("merge.ff", "only"), ("core.autocrlf", "true"),
            ("core.quotepath", "false"), ("status.showUntrackedFiles", "no"), ("core.hooksPath", "/none"), ("core.bare", "true"),
            ("i18n.commitEncoding", "latin1"), ("merge.renames", "junk"), ("core.editor", "false"), ("user.useConfigOnly", "true")])  # fmt: skip
        git(self.library, "config", name, value)
        git(self.library, "config", "gpg.program", "false")

    def hook(self) -> None:
        name = self.generator.choice(["pre-commit", "prepare-commit-msg", "commit-msg", "post-merge", "pre-merge-commit",
                                   "post-checkout", "reference-transaction", "post-index-change"])  # fmt: skip
        path = self.library / ".git/hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\nprintf '\\377 no\\n' >&2\nexit 1\n")
        path.chmod(0o755)
