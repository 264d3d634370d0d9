# SPDX-License-Identifier: Apache-2.0
"""Print the last calls of a process, from the file of KERNKIT_TRACE.

The process may still be running, or have ended in any way. Each line describes a call, in the order in which the calls
began: its number, the op with its arguments, the stream of a tensor on a device, the thread, and how the call ended. A
call that "did not return" is in progress, or was in progress when the process ended.
Exit code 1: no call is printed.
"""

import argparse
import pathlib
import time

from ..calls import trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=pathlib.Path, metavar="FILE", help="the file of KERNKIT_TRACE")
    parser.add_argument("--last", type=int, metavar="N", help="only the last N of the calls that are printed")
    parser.add_argument("--running", action="store_true", help="print only calls that did not return")


def _time(seconds: float) -> str:
    try:
        return time.strftime("%H:%M:%S", time.localtime(seconds)) + f".{int(seconds % 1 * 1e6):06}"
    except (OverflowError, ValueError, OSError):  # a damaged file
        return "an unknown time"


def line_of(call: trace.Call, pid: int) -> str:
    stream = f" stream {call.stream:#x}" if call.stream else ""
    process = f" pid {call.pid}" if call.pid != pid else ""  # process id of a child that fork() created
    duration = f" {call.microseconds:.1f} us" if call.microseconds is not None else ""
    return f"{_time(call.began)} #{call.number} {call.op}({call.arguments}){stream}{process} tid {call.tid} {call.state}{duration} in {call.library}"


def run(arguments: argparse.Namespace) -> int:
    content = trace.read(arguments.file)
    calls = [call for call in content.calls if not arguments.running or call.state == "did not return"]
    if arguments.last is not None:
        calls = calls[max(len(calls) - arguments.last, 0) :]
    print(f"{content.total} calls of process {content.pid}, of which {len(calls)} follow")
    for call in calls:
        print(line_of(call, content.pid))
    return 0 if calls else 1
