# SPDX-License-Identifier: Apache-2.0
"""Reads and writes files inside the folder of a library only. No symbolic link is followed, and a file is replaced as a
whole or not at all."""

import contextlib
import os
import pathlib
import secrets
import shutil
import stat
import tempfile
from typing import Iterable, Iterator, List

from ..errors import UserError

MAX_SIZE = 64 << 20  # largest size of a text file [bytes]
FILE, FOLDER, LINK, SPECIAL, NOTHING = "a file", "a folder", "a symbolic link", "a special file", ""


def folder_of(path: pathlib.Path) -> pathlib.Path:
    """Returns the absolute path of a folder, with all links resolved. Raises UserError if the path does not exist or is
    not a folder."""
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError if links form a cycle
        raise UserError(f"folder {path} not found: {error}") from None
    if not resolved.is_dir():
        raise UserError(f"{path} is not a folder; go to the folder of a library, or name it with --library")
    return resolved


def kind(path: pathlib.Path) -> str:
    """Returns the kind of file at the path: FILE, FOLDER, LINK (also a dangling link), SPECIAL or NOTHING. Raises
    UserError if the path cannot be examined."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except OSError as error:
        raise UserError(f"{path} cannot be examined: {error.strerror}") from None
    if stat.S_ISLNK(mode):
        return LINK
    return FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else SPECIAL


def at(library: pathlib.Path, relative: str, expected: str = "") -> pathlib.Path:
    """Returns the absolute path of `relative` in the library. Raises UserError if the path leaves the library, a folder
    of the path is a link or a file, or the file at the path exists and is not of the kind `expected`."""
    parts = pathlib.PurePosixPath(relative).parts
    if not parts or ".." in parts or relative.startswith("/") or "\0" in relative:
        raise UserError(f'"{relative}" is not a path inside {library}')
    path = library
    for part in parts[:-1]:
        path = path / part
        if (actual := kind(path)) not in (FOLDER, NOTHING):
            raise UserError(f"{path} is {actual}, and kernkit does not follow it; make it a folder")
    path = path / parts[-1]
    actual = kind(path)
    if expected and actual not in (expected, NOTHING):
        raise UserError(f"{path} is {actual}, not {expected}; move it away, or restore it from git")
    return path


def read(library: pathlib.Path, relative: str) -> str:
    """Returns the text of a file, with unchanged line ends. Raises FileNotFoundError if the path does not exist, and
    UserError if the path is not a regular file, or the file is not readable, not UTF-8, or larger than MAX_SIZE."""
    path = at(library, relative, FILE)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
            content = stream.read(MAX_SIZE + 1)
        if len(content) > MAX_SIZE:
            raise UserError(f"{path} has more than {MAX_SIZE} bytes; restore it from git")
        return content.decode()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} cannot be read: it is not UTF-8; restore it from git") from None


def write(library: pathlib.Path, relative: str, text: str) -> None:
    """Replaces a text file as a whole, or makes a new file and its folders. Raises UserError if the file cannot be
    written."""
    path = at(library, relative, FILE)
    scratch = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(os.lstat(path).st_mode) if kind(path) else None
        with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
            stream.write(text.encode())
        if mode is not None:
            os.chmod(scratch, mode)
        os.replace(scratch, path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(scratch)


def below(library: pathlib.Path, relative: str) -> Iterator[str]:
    """Yields the paths, relative to the library, of all files and links below a folder."""
    for folder, folders, names in os.walk(at(library, relative)):
        inside = os.path.relpath(folder, library)
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from sorted(os.path.join(inside, name) for name in names + links)


@contextlib.contextmanager
def set_aside(library: pathlib.Path, paths: Iterable[str]) -> Iterator[None]:
    """Moves files and folders of the library away, and deletes them when the block ends. If the block fails, moves them
    back. Raises UserError if a path cannot be moved or deleted."""
    moved: List[pathlib.Path] = []
    try:
        scratch = pathlib.Path(tempfile.mkdtemp(prefix=".kernkit-removed-", dir=library))
    except OSError as error:
        raise UserError(f"{library} cannot be written: {error.strerror}") from None
    try:
        try:
            for number, relative in enumerate(paths):
                path = at(library, relative)
                os.rename(path, scratch / str(number))
                moved.append(path)
        except OSError as error:
            raise UserError(f"{path} cannot be removed: {error.strerror}") from None
        yield
    except BaseException:
        for number, path in enumerate(moved):
            os.rename(scratch / str(number), path)
        os.rmdir(scratch)
        raise
    try:
        shutil.rmtree(scratch)
    except OSError as error:
        raise UserError(f"{scratch}, with the removed files, cannot be deleted: {error.strerror}; delete the folder") from None
