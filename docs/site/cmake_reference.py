# SPDX-License-Identifier: Apache-2.0
"""Expands the fence `{cmake-file} KernkitLibrary.cmake` into the public functions of this file of sdk/cmake/ with
their comments."""

import re
from typing import Any, Dict

from cmake_functions import FOLDER, Function, functions_of, introduction, public_functions
from comment_text import markdown
from fences import write_fence
from source_address import source_link
from sphinx.application import Sphinx


def linked(text: str) -> str:
    """Returns a Markdown text in which each name of a public function, such as kernkit_add_kernel(), is a link."""
    names = "|".join(function.name for function in public_functions())
    return re.sub(rf"(?<![`\w])({names})\(\)", r"{cmake:command}`\1`", text)


def reference(function: Function) -> str:
    """Returns the Markdown of a function, with the call if the function has arguments."""
    call = f"```cmake\n{function.signature}\n```\n\n" if "()" not in function.signature else ""
    return f"````{{cmake:command}} {function.name}\n\n{call}{linked(markdown(function.text))}\n````"


def setup(app: Sphinx) -> Dict[str, Any]:
    def file_reference(file: str) -> str:
        """Returns the Markdown of all public functions of a file of sdk/cmake/."""
        functions = functions_of(FOLDER / file)
        if not functions:
            raise ValueError(f"{file} has no public function")
        heading = f"## {source_link(app.config, f'sdk/cmake/{file}', file)}"
        return "\n\n".join([heading, linked(markdown(introduction(FOLDER / file))), *map(reference, functions)])

    write_fence(app, "cmake-file", file_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
