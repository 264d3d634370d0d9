# SPDX-License-Identifier: Apache-2.0
"""The record of a library, .kernkit.json in its folder: the version of kernkit, and the answers
from which the library was rendered."""

import json
import pathlib
import re
from typing import Any, Dict, NamedTuple

from ..errors import UserError
from . import files, names

RECORD = ".kernkit.json"
TEMPLATE_OP = "silu_and_mul"


class Started(NamedTuple):
    """The content of .kernkit.json: version of kernkit, and answers to the template's questions."""

    version: str
    answers: Dict[str, str]

    @property
    def name(self) -> str:
        return self.answers["library_name"]


def _problem(record: Any) -> str:
    """Returns the reason why the content of .kernkit.json is invalid, as the end of a sentence; "" if the content is
    valid."""
    if not isinstance(record, dict) or not isinstance(record.get("answers"), dict):
        return "is not an object with a version and answers"
    version, answers = record.get("version"), record["answers"]
    if not isinstance(version, str) or not re.fullmatch(r"\d{1,9}(\.\d{1,9}){0,3}", version, re.ASCII):
        return "has no version, such as 0.1.0"
    for key, value in answers.items():
        if not isinstance(value, str):
            return f"has the answer {json.dumps(key)}, whose value is not a string"
    if "library_name" not in answers:
        return "has no library_name among its answers"
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", answers["library_name"]):
        return f"has the library_name {json.dumps(answers['library_name'])}, which is not a valid library name"
    for op in filter(None, answers.get("removed", "").split(",")):
        if names.why_not_identifier(op):
            return f"has removed {json.dumps(op)}, which is not a valid op name"
    for key, choices in names.CHOICES.items():
        if answers.get(key, choices[0]) not in choices:
            return f"has {key} {json.dumps(answers[key])}, which is unsupported; supported: {', '.join(choices)}"
    return ""


def _read(folder: pathlib.Path) -> Dict[str, Any]:
    path = folder / RECORD
    try:
        record: Dict[str, Any] = json.loads(files.read(folder, RECORD))
        json.dumps(record, ensure_ascii=False).encode()  # raises ValueError for half of a surrogate pair
    except FileNotFoundError:
        raise UserError(f"{folder}/{RECORD} not found; go to the folder of a library that kernkit new "
                        "made") from None  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read ({error!r}); restore it from git") from error
    if problem := _problem(record):
        raise UserError(f"{path} {problem}; restore it from git")
    return record


def read_record(folder: pathlib.Path) -> Started:
    """Returns the content of .kernkit.json in the folder. Raises UserError if the file does not exist or is damaged."""
    record = _read(folder)
    return Started(record["version"], dict(record["answers"]))


def record_removed(folder: pathlib.Path, op: str) -> None:
    """Records the removal of an op of the template, so that an update does not add the op again. Does nothing for
    another op."""
    if op == TEMPLATE_OP:
        record = _read(folder)
        record["answers"] = dict(sorted({**record["answers"], "removed": TEMPLATE_OP}.items()))
        files.write(folder, RECORD, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
