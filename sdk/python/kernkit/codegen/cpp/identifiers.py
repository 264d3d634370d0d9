# SPDX-License-Identifier: Apache-2.0
"""Puts the names of an op and its parameters into its files, without conflicts with the names that
the files use.

The skeletons are first filled with placeholders for the names of the op and its parameters. replace_placeholders() then
replaces the placeholders by the names. If a skeleton declares a variable or a member with one of these names,
such as count, the declaration in the skeleton is renamed to count_. If a name of the op or of a parameter is a name that the skeletons use without declaring it, such as
std or TestTensor, replace_placeholders() raises UserError.
"""

import dataclasses
import re
from typing import Dict, List, Set, Tuple

from ...errors import UserError
from ...schema import Op

# Names that the skeletons declare: _LOCALS in functions, _MEMBERS as members, which can follow a dot.
_LOCALS = set(
    "Compute T Types a b begin blocks bytes columns count each element elements exact expected expected_value i in j "
    "kRegistered is_zero kThreads launch mean moved of_warps offset op out placement r reduce_warp result result1 result2 "
    "result3 result4 result5 result6 result7 result8 row rows scale shape shapes sizes squares state tag terms thread time "
    "total v value write_zeros".split()
)
_MEMBERS = set("combine device_ error finish kIdentity load".split())
# Functions of a GoogleTest fixture. The tensors of a test are members of its fixture, so no parameter can have one of
# these names.
_OF_A_FIXTURE = set("SetUp SetUpTestCase SetUpTestSuite TearDown TearDownTestCase TearDownTestSuite".split())

# Placeholders for the names of the op and of its class. Parameter i has the placeholder kkp<i>kk. No other word of
# the skeletons contains a placeholder.
_OP, CLASS_PLACEHOLDER = "kkopkk", "KkOpKk"
# A token of C++ code. A comment, a string literal and the header of a test are one token each, so that their words do
# not count as words of the code.
_TOKEN = re.compile(r"//[^\n]*|#(?:include|pragma)[^\n]*|\bT(?:YPED_T)?EST(?:_F)?\([^)]*\)|\[\[\w+\]\]|\"(?:[^\"\\\n]|\\.)*\"|[A-Za-z_]\w*|->|::|\d\w*|\S")
_IS_WORD = re.compile(r"[A-Za-z_]\w*")
_PLACEHOLDER = re.compile(rf"{_OP}|{CLASS_PLACEHOLDER}|kkp(\d+)kk")


def camel(name: str) -> str:
    """Returns the class name of an op, such as SiluAndMul for silu_and_mul. An underscore before a digit is kept, so
    that different ops have different class names."""
    return re.sub("(?:^|_)([a-z])", lambda match: match[1].upper(), name)


def with_placeholders(op: Op) -> Op:
    """Returns a copy of the op in which placeholders replace the names of the op and its parameters. The schema line is
    unchanged."""
    parameters = [dataclasses.replace(value, name=f"kkp{i}kk") for i, value in enumerate(op.parameters)]
    return dataclasses.replace(op, name=_OP, parameters=parameters)


def _tokens(text: str) -> List[Tuple[str, bool, int]]:
    """Returns (word, whether ".", "->" or "::" precedes the word, offset of the word) for each word of the code."""
    tokens, before = [], ""
    for match in _TOKEN.finditer(text):
        if _IS_WORD.fullmatch(match[0]):
            tokens.append((match[0], before in (".", "->", "::"), match.start()))
        before = match[0]
    return tokens


def replace_placeholders(texts: Dict[str, str], op: Op) -> Dict[str, str]:
    """Returns the texts with the names of the op and its parameters in place of the placeholders. Raises UserError if
    the files use one of the names for something else."""
    of_parameters = {f"kkp{i}kk": value.name for i, value in enumerate(op.parameters)}
    names = {_OP: op.name, CLASS_PLACEHOLDER: camel(op.name), **of_parameters}

    def real(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: names[match[0]], text)

    parameters = {value.name for value in op.parameters}
    tokens = [token for text in texts.values() for token in _tokens(text)]
    op_names: Set[str] = {real(token) for token, *_ in tokens if _PLACEHOLDER.search(token)}
    fixed_names: Set[str] = set()  # words of the skeletons with which a name of the op could conflict
    for token, is_qualified, _ in tokens:
        if not _PLACEHOLDER.search(token) and (not is_qualified or token in _MEMBERS):
            fixed_names.add(token)
    of_the_op = op_names - parameters
    for token, *_ in tokens:
        if _PLACEHOLDER.search(token) and token not in of_parameters and real(token) in parameters:
            raise UserError(f"parameter {real(token)}: the op's files use this name for something else; "
                            "choose another name")  # fmt: skip
    moved: Dict[str, str] = {}
    taken = fixed_names | op_names | parameters
    for name in sorted((parameters | of_the_op) & fixed_names):
        if name not in _LOCALS | _MEMBERS:
            if name in parameters:
                raise UserError(f"parameter {name}: the op's files use this name for something else; choose another name")
            raise UserError(f"op {op.name}: the op's files use the name {name} for something else; choose another name")
        moved[name] = name + "_"
        while moved[name] in taken:
            moved[name] += "_"
        taken.add(moved[name])
    of_fixtures = sorted(parameters & _OF_A_FIXTURE)
    if of_fixtures:
        raise UserError(f"parameter {of_fixtures[0]}: GoogleTest uses this name; choose another name")

    def replaced(text: str) -> str:
        for token, is_qualified, at in reversed(_tokens(text)):
            if token in moved and (not is_qualified or token in _MEMBERS):
                text = text[:at] + moved[token] + text[at + len(token) :]
        return real(text)

    return {path: replaced(text) for path, text in texts.items()}
