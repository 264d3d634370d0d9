# SPDX-License-Identifier: Apache-2.0
"""The exception whose text every command of kernkit reports as one sentence."""


class UserError(Exception):
    """An error in the input or environment of a command. The text is a sentence that names the argument or place, what
    was found, and how to fix the error. A command that raises a UserError has changed nothing."""
