# SPDX-License-Identifier: Apache-2.0
"""The device code that nvcc's front end generates (FILE.cudafe1.gpu, by `nvcc --keep`), for comparing two
compilations that differ in host code."""

import re

LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
# Matches numbers that depend on preceding declarations, and the hash of a file's options in the names of local symbols.
NUMBERED = re.compile(r"(__cuda_local_var_|__T|__C)\d+(?:_\d+(?=_))?|(_INTERNAL_)[0-9a-f]{8}_\w+?_[0-9a-f]{8}")
ATTRIBUTE = re.compile(r"\b(?:__\w+|___device__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


def unnumbered(text):
    return NUMBERED.sub(lambda match: match[1] or match[2], text)


def functions(text):
    """Returns {name: definition} of the functions in the front end's output."""
    definitions, lines, depth = {}, [], 0
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        lines.append(line)
        code = LITERAL.sub("", line)
        depth += code.count("{") - code.count("}")
        if depth == 0 and code.rstrip().endswith((";", "}")):
            definition, lines = "\n".join(lines), []
            head = ATTRIBUTE.sub("", LITERAL.sub("", definition).partition("{")[0])
            name = re.search(r"\b(\w+)\s*\(", head)
            if "{" in definition and name and not head.lstrip().startswith(("struct", "union", "enum", "typedef")):
                definitions[name[1]] = definition
    assert depth == 0 and not lines, "a definition in the front end's output has no end"
    return definitions


def device_code(text):
    """Returns the kernels, and {name: definition} of the kernels and of all functions that they call."""
    defined = functions(unnumbered(text))
    kernels = {name for name, definition in defined.items() if "__global__" in definition.partition("{")[0]}
    unvisited, reached = set(kernels), set()
    while unvisited:
        name = unvisited.pop()
        reached.add(name)
        unvisited |= {used for used in re.findall(r"\w+", defined[name]) if used in defined} - reached
    return kernels, {name: defined[name] for name in reached}
