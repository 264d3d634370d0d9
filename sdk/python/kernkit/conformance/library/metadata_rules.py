# SPDX-License-Identifier: Apache-2.0
"""Rules about the exported functions that return the metadata and the documentation of a function."""

import json

from ..rule import MUST, Broken, NotApplicable, Rules
from . import sources
from .subject import Subject

RULES = Rules()


@RULES.add(MUST, sources.EXPORTS)
def metadata(subject: Subject) -> None:
    """`__tvm_ffi__metadata_NAME` returns a JSON object. Its `type_schema` is the JSON text of an `ffi.Function` with
    the types of the result and of the parameters."""
    names = [name for name in subject.functions if f"__tvm_ffi__metadata_{name}" in subject.file.exported]
    if not names:
        raise NotApplicable("the library exports no metadata")
    for name in names:
        entries = subject.metadata(name) or {}
        try:
            schema = json.loads(entries["type_schema"])
            types = [argument["type"] for argument in schema.get("args", [])]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Broken(f"{name}: the metadata has no readable type_schema: {type(error).__name__}: {error}") from error
        if schema.get("type") != "ffi.Function":
            raise Broken(f"{name}: type_schema is of type {schema.get('type')}; expected ffi.Function")
        if not all(isinstance(kind, str) and kind for kind in types):
            raise Broken(f"{name}: type_schema has the types {types}; expected strings that are not empty")


@RULES.add(MUST, sources.EXPORTS)
def documentation(subject: Subject) -> None:
    """`__tvm_ffi__doc_NAME` returns a str."""
    names = [name for name in subject.functions if f"__tvm_ffi__doc_{name}" in subject.file.exported]
    if not names:
        raise NotApplicable("the library exports no documentation")
    for name in names:
        subject.text(f"__tvm_ffi__doc_{name}")
