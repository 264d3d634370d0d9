# SPDX-License-Identifier: Apache-2.0
"""./kk COMMAND, once the machine is prepared. With --plan first it does nothing yet: it prints ./kk's
help where that was asked for, or what has to be prepared, as words of a shell.
"""

import os
import shlex
import sys
from typing import List

from ..errors import UserError
from .tools import set_environment
from .options import Done, Wrong, parse


def main(words: List[str]) -> int:
    # Not for the ./kk of a library that this one starts.
    if os.environ.pop("KK_DRIVER", "") == "repository":
        from . import repository as driver
    else:
        from . import library as driver  # type: ignore
    is_plan = words[:1] == ["--plan"]
    try:
        options = parse(words[is_plan:], driver.COMMANDS)
        if options is None:
            print(driver.USAGE, end="")
        elif is_plan:
            for name, value in driver.plan(options).items():
                print(f"{name}={shlex.quote(value)}")
        else:
            set_environment()
            driver.COMMANDS[options.command].function(options)
    except (Wrong, UserError) as problem:
        sys.stdout.flush()
        print(f"kk: {problem}", file=sys.stderr)
        return 1
    except OSError as error:
        sys.stdout.flush()
        print(f"kk: {error.filename or words[0]}: {error.strerror or error}", file=sys.stderr)
        return 1
    except Done as done:
        return done.code
    return 0


sys.exit(main(sys.argv[1:]))
