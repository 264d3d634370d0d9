# SPDX-License-Identifier: Apache-2.0
"""Names of an op and its parameters in files that have names of their own.

While files are made, the op and its parameters have stand-ins that nothing else has. settle() puts
the names in their place: a name that the skeletons declare gets out of the way (count_), one that
they use and do not declare (std, TestTensor) is refused.
"""

import dataclasses
import re
from typing import Dict, List, Set, Tuple

from ...errors import UserError
from ...schema import Op

# What the skeletons declare: in functions, and as members, which stand behind a dot as well.
_LOCALS = set(
    "Compute T Types a b begin blocks bytes columns count each element elements exact expected i in j kRegistered "
    "is_zero kThreads launch mean moved of_warps offset op out placement r reduce_warp result result1 result2 "
    "result3 result4 result5 result6 result7 result8 row rows scale shape shapes sizes squares state tag terms thread time "
    "total v value wanted write_zeros".split()
)
_MEMBERS = set("combine device_ error finish kIdentity load".split())
# GoogleTest looks for these in a class of tests, whose members the tensors of a test are.
_OF_A_FIXTURE = set("SetUp SetUpTestCase SetUpTestSuite TearDown TearDownTestCase TearDownTestSuite".split())

_OP, _CAMEL = "kkopkk", "KkOpKk"
# Comments, texts and the names of tests are no words of the code.
_TOKEN = re.compile(r"//[^\n]*|#(?:include|pragma)[^\n]*|\bT(?:YPED_T)?EST(?:_F)?\([^)]*\)|\[\[\w+\]\]|\"(?:[^\"\\\n]|\\.)*\"|[A-Za-z_]\w*|->|::|\d\w*|\S")
_IS_WORD = re.compile(r"[A-Za-z_]\w*")
_STANDS_IN = re.compile(rf"{_OP}|{_CAMEL}|kkp(\d+)kk")


def camel(name: str) -> str:
    """The class of an op: another one for each op, whatever its digits and underscores."""
    return re.sub("(?:^|_)([a-z])", lambda found: found[1].upper(), name)


def with_stand_ins(op: Op) -> Op:
    """The same op under names that no file has; the line is the real one."""
    parameters = [dataclasses.replace(value, name=f"kkp{i}kk") for i, value in enumerate(op.parameters)]
    return dataclasses.replace(op, name=_OP, parameters=parameters)


def class_of_stand_in() -> str:
    return _CAMEL


def _words(text: str) -> List[Tuple[str, bool, int]]:
    """Each name in the code: itself, whether a dot, an arrow or :: leads to it, where it begins."""
    words, before = [], ""
    for found in _TOKEN.finditer(text):
        if _IS_WORD.fullmatch(found[0]):
            words.append((found[0], before in (".", "->", "::"), found.start()))
        before = found[0]
    return words


def settle(texts: Dict[str, str], op: Op) -> Dict[str, str]:
    """The texts with the op's names in them. Refuses a name that cannot be in one."""
    of_parameters = {f"kkp{i}kk": value.name for i, value in enumerate(op.parameters)}
    names = {_OP: op.name, _CAMEL: camel(op.name), **of_parameters}

    def real(text: str) -> str:
        return _STANDS_IN.sub(lambda found: names[found[0]], text)

    parameters = {value.name for value in op.parameters}
    words = [word for text in texts.values() for word in _words(text)]
    made: Set[str] = {real(word) for word, *_ in words if _STANDS_IN.search(word)}
    own: Set[str] = set()  # of the files, where the op's could stand as well
    for word, is_led_to, _ in words:
        if not _STANDS_IN.search(word) and (not is_led_to or word in _MEMBERS):
            own.add(word)
    of_the_op = made - parameters
    for word, *_ in words:
        if _STANDS_IN.search(word) and word not in of_parameters and real(word) in parameters:
            raise UserError(f"parameter {real(word)}: the op's files need this name for something else; "
                          "choose another")  # fmt: skip
    moved: Dict[str, str] = {}
    taken = own | made | parameters
    for name in sorted((parameters | of_the_op) & own):
        if name not in _LOCALS | _MEMBERS:
            if name in parameters:
                raise UserError(f"parameter {name}: the name is taken in the op's files; choose another")
            raise UserError(f"op {op.name}: the name {name} is taken in its files; choose another")
        moved[name] = name + "_"
        while moved[name] in taken:
            moved[name] += "_"
        taken.add(moved[name])
    refused = sorted(parameters & _OF_A_FIXTURE)
    if refused:
        raise UserError(f"parameter {refused[0]}: the name is taken by GoogleTest; choose another")

    def settled(text: str) -> str:
        for word, is_led_to, at in reversed(_words(text)):
            if word in moved and (not is_led_to or word in _MEMBERS):
                text = text[:at] + moved[word] + text[at + len(word) :]
        return real(text)

    return {path: settled(text) for path, text in texts.items()}
