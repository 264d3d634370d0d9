# SPDX-License-Identifier: Apache-2.0
"""Runs a command of ./kk after the script ./kk has prepared the machine.

With --plan as the first argument no command runs: the output is the help of ./kk for --help, otherwise one line
NAME=VALUE for each preparation that the script ./kk must make."""

import os
import sys
from typing import List

from ..errors import UserError
from .options import CommandFailed, parse
from .tools import set_environment


def main(arguments: List[str]) -> int:
    # The variable is removed from the environment, because a command can start the ./kk of a library, which must not
    # inherit the variable.
    if os.environ.pop("KK_DRIVER", "") == "repository":
        from . import repository as driver
    else:
        from . import library as driver  # type: ignore
    is_plan = arguments[:1] == ["--plan"]
    try:
        options = parse(arguments[is_plan:], driver.COMMANDS)
        if options is None:
            print(driver.USAGE, end="")
        elif is_plan:
            for name, value in driver.plan(options).items():
                print(f"{name}={value}")
        else:
            set_environment()
            driver.check_installed(options)
            driver.COMMANDS[options.command].function(options)
    except UserError as error:
        sys.stdout.flush()
        print(f"kk: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        sys.stdout.flush()
        print(f"kk: {error.filename or arguments[0]}: {error.strerror or error}", file=sys.stderr)
        return 1
    except CommandFailed as failure:
        return failure.code
    return 0


sys.exit(main(sys.argv[1:]))
