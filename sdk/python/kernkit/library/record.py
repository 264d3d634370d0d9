# SPDX-License-Identifier: Apache-2.0
"""What a library remembers of its beginning: .kernkit.json, in its folder."""

import json
import pathlib
from typing import Dict, NamedTuple

from ..cli import Refusal

RECORD = ".kernkit.json"
TEMPLATE_OP = "silu_and_mul"
SEALED = "third_party/kernkit"  # the copy of the SDK, where it has one


class Started(NamedTuple):
    """What .kernkit.json says."""

    version: str
    answers: Dict[str, str]

    @property
    def name(self) -> str:
        return self.answers["library_name"]


def read_record(folder: pathlib.Path) -> Started:
    """Refuses a folder where no library began."""
    path = folder / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        answers = {str(key): str(value) for key, value in record["answers"].items()}
        started = Started(str(record["version"]), answers)
        if "library_name" in answers:
            return started
    except FileNotFoundError:
        raise Refusal(f"{folder} holds no {RECORD}: go to the folder of a library that kernkit "
                      "began") from None  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise Refusal(f"{path} cannot be read ({error!r}); restore it from git") from error
    raise Refusal(f"{path} has no library_name among its answers; restore it from git")


def note_removed(folder: pathlib.Path, *ops: str) -> None:
    """Of the template's ops, which an update would bring back; another's name is not noted."""
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    if TEMPLATE_OP in ops:
        record["answers"] = dict(sorted({**record["answers"], "removed": TEMPLATE_OP}.items()))
        text = json.dumps(record, indent=2, ensure_ascii=False)
        (folder / RECORD).write_text(text + "\n", encoding="utf-8")
