# SPDX-License-Identifier: Apache-2.0
"""The error that every command of kernkit reports in one sentence."""


class UserError(Exception):
    """A sentence that names the argument or place, what was found, and how to fix it. The command changed nothing."""
