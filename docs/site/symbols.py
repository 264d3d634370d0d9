# SPDX-License-Identifier: Apache-2.0
"""The public symbols of the headers with their comments, read from Doxygen's XML."""

import dataclasses
import pathlib
import xml.etree.ElementTree as ElementTree
from typing import Dict, Iterator, List

_CLASSES = ("class", "struct", "union")
_MEMBERS = {"function": "function", "friend": "function", "variable": "constant", "typedef": "type", "enum": "type",
            "define": "macro"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A public symbol of a header."""

    identity: str  # Doxygen's id, unique
    kind: str  # class, type, function, method, macro, field, constant or enumerator
    name: str  # qualified, such as kernkit::Dim::value
    declaration: str  # name with parameters, for a message
    header: str  # kernkit/checks/dim.h
    line: int
    comment: str  # text of the comment, parameters included; "" without a comment
    group_comment: str  # comment of the enum of an enumerator; otherwise ""
    needs_comment: bool  # false if C++ or another declaration defines the meaning, as for a copy constructor

    @property
    def is_callable(self) -> bool:
        return self.kind in ("function", "method") or (self.kind == "macro" and "(" in self.declaration)


def text_of(element: ElementTree.Element, *names: str) -> str:
    """Returns the text of the children with these names, without tags and with single spaces."""
    found = [part for name in names for child in element.findall(name) for part in child.itertext()]
    return " ".join(" ".join(found).split())


def comment_of(element: ElementTree.Element) -> str:
    return text_of(element, "briefdescription", "detaileddescription", "inbodydescription")


def is_defined_by_language(member: ElementTree.Element, owner: str) -> bool:
    """Returns whether C++ defines the meaning of a member function: a destructor, a copy, a move, or a deleted
    function."""
    name, arguments = text_of(member, "name"), text_of(member, "argsstring")
    if name.startswith("~") or arguments.replace(" ", "").endswith(("=delete", "=default")):
        return True
    types = [text_of(parameter, "type").replace(" ", "") for parameter in member.findall("param")]
    return name in (owner, "operator=") and types in ([owner], [f"const{owner}&"], [f"{owner}&&"])


def is_specialisation(name: str) -> bool:
    """Returns whether a qualified name belongs to a specialisation or to a member of a specialisation. Their comments
    are at the template."""
    return "<" in name.replace("operator<", "")


def needs_comment(member: ElementTree.Element, owner: str) -> bool:
    return not is_specialisation(owner) and not is_defined_by_language(member, owner.rpartition("::")[2])


def members_of(compound: ElementTree.Element, kind: str) -> Iterator[Symbol]:
    """Yields the public members of a class, a namespace or a file."""
    owner = text_of(compound, "compoundname")
    scope = "" if kind == "file" else f"{owner}::"
    for member in compound.iter("memberdef"):
        name, arguments = text_of(member, "name"), text_of(member, "argsstring")
        if member.get("prot") != "public" or member.get("kind") not in _MEMBERS:
            continue
        if member.get("kind") == "friend" and not arguments.startswith("("):
            continue  # a class
        what = _MEMBERS[member.get("kind", "")]
        if kind in _CLASSES:
            what = {"function": "method", "constant": "field"}.get(what, what)
            if what == "field" and member.get("static") == "yes":
                what = "constant"
        if what == "macro" and member.find("param") is not None:
            arguments = "(" + ", ".join(text_of(parameter, "defname") for parameter in member.findall("param")) + ")"
        location = member.find("location")
        assert location is not None
        place = (location.get("file", ""), int(location.get("line", 0)))
        if name.startswith("__"):
            continue  # a name of another project's ABI
        if name and not name.startswith("@"):  # an anonymous enum has no name; its enumerators have
            declaration = scope + name + (arguments if what in ("function", "method", "macro") else "")
            yield Symbol(member.get("id", ""), what, scope + name, declaration, *place, comment_of(member), "",
                         needs_comment(member, owner))  # fmt: skip
        inside = f"{scope}{name}::" if member.get("strong") == "yes" else scope
        for value in member.findall("enumvalue"):
            enumerator = inside + text_of(value, "name")
            yield Symbol(value.get("id", ""), "enumerator", enumerator, enumerator, *place, comment_of(value),
                         comment_of(member), True)  # fmt: skip


def public_symbols(xml: pathlib.Path) -> List[Symbol]:
    """Returns the public symbols of all headers in Doxygen's XML, in the order of headers and lines."""
    found: Dict[str, Symbol] = {}
    for path in sorted(xml.glob("*.xml")):
        compound = ElementTree.parse(path).getroot().find("compounddef")
        if compound is None or compound.get("prot", "public") != "public":
            continue
        kind, name, location = compound.get("kind", ""), text_of(compound, "compoundname"), compound.find("location")
        if kind not in (*_CLASSES, "namespace", "file"):
            continue
        if kind in _CLASSES and location is not None:
            identity = compound.get("id", "")
            found[identity] = Symbol(identity, "class", name, name, location.get("file", ""), int(location.get("line", 0)),
                                     comment_of(compound), "", not is_specialisation(name))  # fmt: skip
        for symbol in members_of(compound, kind):
            found.setdefault(symbol.identity, symbol)
    return sorted(found.values(), key=lambda symbol: (symbol.header, symbol.line, symbol.declaration))
