# SPDX-License-Identifier: Apache-2.0
"""Corrects Doxygen's XML for Breathe and for the comparison with the pages.

Breathe shows the members of a group without their namespace, and hands initialisers and types to Sphinx's parser of C++,
which does not parse every expression.
"""

import pathlib
import re
import xml.etree.ElementTree as ElementTree
from typing import Set

_SHORT_VALUE = re.compile(r"""= *(-?[\w.]+|"[^"]*"|\{\})""")


def text_of(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def qualify(member: ElementTree.Element) -> None:
    """Replaces the name of a group's member by the qualified name."""
    name, qualified = member.find("name"), member.find("qualifiedname")
    if name is not None and name.text and qualified is not None:
        name.text = qualified.text


def as_variable(member: ElementTree.Element) -> None:
    """Changes a function to a variable if the declaration is `Type name("text");`, which Doxygen parses as a
    function."""
    arguments = member.find("argsstring")
    if member.get("kind") == "function" and arguments is not None and (arguments.text or "").startswith('("'):
        member.set("kind", "variable")
        member.remove(arguments)


def with_short_value(member: ElementTree.Element) -> None:
    """Removes the initialiser of a variable unless the initialiser is a literal or a name."""
    value = member.find("initializer")
    if member.get("kind") == "variable" and value is not None and not _SHORT_VALUE.fullmatch(text_of(value).strip()):
        member.remove(value)


def without_conditions(member: ElementTree.Element) -> None:
    """Removes template parameters that only exclude a function from overload resolution, which the comment
    describes."""
    parameters = member.find("templateparamlist")
    for parameter in list(parameters) if parameters is not None else []:
        if re.match(r"(typename )?std::enable_if_t<", text_of(parameter).strip()) and "decltype" in text_of(parameter):
            parameters.remove(parameter)


def without_links(root: ElementTree.Element) -> None:
    """Replaces links to files and namespaces, which have no page, by their text, and removes the #include of a
    class."""
    for compound in root.findall("compounddef"):
        for includes in compound.findall("includes"):
            compound.remove(includes)
    for parent in list(root.iter()):
        for link in parent.findall("ref"):
            if "_8" in link.get("refid", "") or link.get("refid", "").startswith("namespace"):
                at = list(parent).index(link)
                text = (link.text or "") + (link.tail or "")
                if at:
                    parent[at - 1].tail = (parent[at - 1].tail or "") + text
                else:
                    parent.text = (parent.text or "") + text
                parent.remove(link)


def correct(path: pathlib.Path, classes: Set[str]) -> None:
    """Corrects one file. `classes` are the qualified names of all classes."""
    tree = ElementTree.parse(path)
    is_group = path.name.startswith("group__")
    for section in tree.iter("sectiondef"):
        for member in section.findall("memberdef"):
            as_variable(member)
            with_short_value(member)
            without_conditions(member)
            owner = (member.findtext("qualifiedname") or "").rpartition("::")[0]
            # Removes a method that another header defines, because the page of the class shows the
            # method, and names that begin with __, which belong to another project's ABI.
            if is_group and (owner in classes or member.findtext("name", "").startswith("__")):
                section.remove(member)
            elif is_group:
                qualify(member)
    without_links(tree.getroot())
    tree.write(path, encoding="UTF-8", xml_declaration=True)


def correct_all(xml: pathlib.Path) -> None:
    index = ElementTree.parse(xml / "index.xml")
    classes = {
        compound.findtext("name", "")
        for compound in index.iter("compound")
        if compound.get("kind") in ("class", "struct", "union")
    }
    for kind in ("group__", "class", "struct", "union", "namespacekernkit"):
        for path in xml.glob(f"{kind}*.xml"):
            correct(path, classes)
