# SPDX-License-Identifier: Apache-2.0
"""Repeat a call that KERNKIT_RECORD recorded, and compare the results.

Only the library of --library is loaded, not a file that the recording names. The tensors have the strides, offsets,
alignment and shared memory of the recorded call. The call runs in a process of its own.

--on-cpu repeats a call on GPU tensors without a GPU: the CPU executes the PTX of the kernels, as in `kernkit run`. With
--tool the kernels run under the tools of `kernkit sanitize`, which report errors with the lines of the kernel.
Uninitialised memory has the same bytes, and the threads of a block the same order, in each such replay, so wrong results
can equal the recorded results: use --tool, or change bytes and order by KERNKIT_POISON=0x11 and KERNKIT_SEED=3 in the
environment.
--minimize repeats the call with smaller tensors, and writes the smallest call that still fails. Sizes with the same name
in the schema line change together; if the schema line has no sizes, equal sizes change together.
--uninitialised allocates new memory, without the recorded values, for tensors that the op only writes. If the results
change, the op reads this memory before it writes the memory; --tool initcheck reports the line of the kernel.
--bench measures the time of the call and of a copy of as many bytes, on the CPU or on a GPU, and writes a file for
`kernkit report` and `kernkit compare`. Each round is a new process. The result of a round is the fastest of three
means.
Exit code 1: the results differ, the call ends its process, or a tool has a finding. A smaller call whose results are
unknown has exit code 0 if the call succeeds.
"""

import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time
from typing import List, Optional

from ..bench import collection, machine, measurements
from ..binaries.ops import op_of_line, read_lines, read_parsed
from ..calls import device as device_module
from ..calls import child, differences, minimize, recording, replay, timing, trial, writing
from ..errors import UserError
from ..parsed_line import read_op
from ..schema import Op, SchemaError
from ..sdk import without_component

try:
    from . import run as run_command
    from . import sanitize
except ImportError:  # a library's copy of kernkit without the component ptx
    sanitize = None  # type: ignore[assignment]


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, found {text}")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="the recording: a folder in the folder of KERNKIT_RECORD")
    parser.add_argument("--library", type=pathlib.Path, required=True, metavar="LIB.so", help="the library whose op is called")
    parser.add_argument("--on-cpu", action="store_true", help="execute the PTX of the kernels on the CPU, without a GPU")
    parser.add_argument("--tool", metavar="TOOLS", help="the tools of `kernkit sanitize`, as in memcheck,racecheck; implies --on-cpu")
    parser.add_argument("--runtime", type=pathlib.Path, metavar="FILE", help="with --on-cpu: an existing libcudart.so.13 of kernkit (default: build the runtime once)")
    parser.add_argument("--minimize", type=pathlib.Path, metavar="NEW", help="write the smallest call that fails in the same way to this new folder")
    parser.add_argument("--uninitialised", type=lambda text: text.split(","), default=[], metavar="NAMES", help="tensors, as in y,indices, whose recorded values are left out")
    parser.add_argument("--bench", type=pathlib.Path, metavar="RUN.json", help="measure the time of the call, and write the rows to this file")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="with --bench: the number of rounds (default: %(default)s)")
    parser.add_argument("--here", action="store_true", help="make the call in this process, for a debugger")
    parser.add_argument("--tolerance", type=_tolerance, default=0.0, metavar="T",
                        help="largest accepted difference between recorded and replayed numbers, relative to the larger magnitude or to 1 (default: 0, equal bits)")


def _uninitialised(call: recording.Recording, names: List[str]) -> recording.Recording:
    """Returns the call without the recorded values of the tensors with these names. CPU memory is filled with bytes 255, which
    are NaN in a float. Raises UserError if a name is unknown, or if another tensor shares the memory."""
    storages = list(call.storages)
    for name in names:
        found = [value for value in call.arguments if value.type == "tensor" and value.name == name]
        if not found:
            tensors = ", ".join(value.name for value in call.arguments if value.type == "tensor")
            raise UserError(f"--uninitialised: {call.op} has no tensor {name}; its tensors: {tensors or 'none'}")
        number = found[0].storage
        if number is None:
            continue
        shared = [value.name for value in recording.tensors_of(call.arguments) if value.storage == number and value.name not in names]
        if shared:
            raise UserError(f"--uninitialised: {name} shares memory with {', '.join(shared)}, whose values the call needs")
        storage = storages[number]
        storages[number] = storage._replace(content=None if storage.device[0] == 2 else b"\xff" * storage.size, is_new=True)
    return call._replace(storages=storages)


def _check_line(call: recording.Recording, library: pathlib.Path) -> None:
    lines = {op_of_line(line): line[len(op_of_line(line)) :] for line in read_lines(library)}
    if call.op not in lines:
        raise UserError(f"{library} has no op {call.op}; the library has {', '.join(sorted(lines)) or 'no op'}")
    if lines[call.op] != call.schema:
        raise UserError(f"{call.op} has another schema line in {library} than in the recording: {lines[call.op]} is not {call.schema}; "
                        "replay the recording with a library of its version")  # fmt: skip


def _repeat(call: recording.Recording, library: pathlib.Path, tolerance: float) -> int:
    outcome = replay.call(call, library)
    if call.results is None:
        ending = f"fails with {outcome.error}" if outcome.error else "succeeds"
        recorded = "the results of this part of a recorded call are unknown" if call.is_part else "the recorded call did not return"
        print(f"{call.op}: {recorded}; this call {ending}")
        return 0 if call.is_part and outcome.error is None else 1
    different, compared = differences.compare(call, outcome, tolerance)
    for line in different:
        print(f"{call.op}: {line}")
    if not different:
        print(f"{call.op}: equal: {', '.join(compared) or 'nothing is compared'}")
    return 1 if different else 0


def _in_a_process(call: recording.Recording, library: pathlib.Path, tolerance: float) -> int:
    """Repeats the call in a child process. Returns the child's exit code or, if a signal ended the child, the negative
    number of the signal."""

    def work() -> int:
        try:
            return _repeat(call, library, tolerance)
        except UserError as error:
            print(f"kernkit: {error}", file=sys.stderr)
            return 3

    return child.run(work)


def _command(arguments: argparse.Namespace) -> List[str]:
    """Returns the command of kernkit, with options, that runs kernels without a GPU: `run` or `sanitize`. The list is
    empty without --on-cpu and --tool."""
    if not (arguments.on_cpu or arguments.tool):
        return []
    if sanitize is None:
        raise UserError(without_component("ptx"))
    command = ["sanitize", "--tool", ",".join(sanitize.tools_of(arguments.tool))] if arguments.tool else ["run"]
    return [*command, "--runtime", str(arguments.runtime)] if arguments.runtime else command


def _op(call: recording.Recording, library: pathlib.Path) -> Optional[Op]:
    """Returns the op of the recorded call with its parsed schema line, or None if the library has no parsed schema line
    for the op."""
    try:
        parsed = read_parsed(library)
        return read_op(call.op, call.op + call.schema, parsed[call.op]) if call.op in parsed else None
    except SchemaError as error:
        raise UserError(f"{library}: {error}") from error


def _minimize(call: recording.Recording, arguments: argparse.Namespace) -> int:
    if arguments.minimize.exists():
        raise UserError(f"--minimize: {arguments.minimize} exists; name a folder that does not exist")
    with tempfile.TemporaryDirectory(prefix="kernkit-") as folder:
        runner = trial.Runner(arguments.library, _command(arguments), pathlib.Path(folder))
        smaller = minimize.minimize(call, runner, _op(call, arguments.library), arguments.tolerance)
    writing.write(smaller.recording, arguments.minimize)
    shapes = ", ".join(f"{old.name} {list(old.shape)} -> {list(new.shape)}" for old, new in smaller.shapes)
    print(f"{call.op}: {smaller.failure.text}")
    print(f"{call.op}: {smaller.num_calls} calls; {shapes or 'no size can be smaller'}; {arguments.minimize} has the call")
    return 0


def _bench(call: recording.Recording, arguments: argparse.Namespace) -> int:
    if arguments.on_cpu or arguments.tool:
        raise UserError("--bench: the time of a kernel that runs on the CPU by its PTX is not the time on a GPU; leave out --on-cpu and --tool, or "
                        "count the kernel's memory traffic by kernkit counters")  # fmt: skip
    if any(storage.device[0] == 2 for storage in call.storages) and not device_module.is_installed():
        raise UserError("--bench: the recording has tensors on a CUDA device, and libcuda.so.1 is not found; measure on a machine with a GPU, or "
                        "count the kernel's memory traffic by kernkit counters")  # fmt: skip
    if arguments.rounds < 1:
        raise UserError("--rounds must be 1 or more")
    about, collector, overheads, device = machine.context(), collection.Collector(), [], None
    begin, busy, own = time.monotonic(), machine.busy_seconds(), machine.own_seconds()
    for _ in range(arguments.rounds):
        round_of_rows = timing.measure(call, arguments.library, arguments.tolerance)
        collector.add("replay", {"context": {}, "rows": round_of_rows["rows"]})
        overheads.append(round_of_rows["overhead"])
        device = round_of_rows["device"]
    elapsed = time.monotonic() - begin
    others = machine.busy_seconds() - busy - (machine.own_seconds() - own)
    about.update(rounds=arguments.rounds, seconds=round(elapsed), busy_with_others=round(max(0.0, others) / elapsed / (os.cpu_count() or 1), 3),
                 programs=[f"kernkit replay {call.op} --bench"], options=[], sources={}, call_overhead_ns=round(min(overheads)))  # fmt: skip
    if device is not None:
        about.update(device=device)
    rows = list(collector.rows.values())
    measurements.save(measurements.Run(about, rows), arguments.bench)
    for row in rows:
        text = row.reason or f"{measurements.format_value(row)} {measurements.format_spread(row)}"
        print(f"{row.name}: {text}")
    wrong = any(row.reason for row in rows)
    if not wrong:
        print(f"Each time includes {round(min(overheads))} ns of overhead for the call from Python. The rows are in {arguments.bench}.")
        if device is not None and "kernkit" in device:
            print(f"The device is {device}: the times are not those of a GPU.")
    return 1 if wrong else 0


def _on_cpu(arguments: argparse.Namespace) -> int:
    """Runs this command again under `kernkit run` or `kernkit sanitize`, and returns the exit code."""
    command = _command(arguments)
    again = [sys.executable, "-m", __package__.partition(".")[0], "replay", "--here", str(arguments.folder), "--library", str(arguments.library),
             "--tolerance", repr(arguments.tolerance), *(["--uninitialised", ",".join(arguments.uninitialised)] if arguments.uninitialised else [])]  # fmt: skip
    parser = argparse.ArgumentParser()
    module = sanitize if arguments.tool else run_command
    module.add_arguments(parser)
    return int(module.run(parser.parse_args([*command[1:], *again])))


def run(arguments: argparse.Namespace) -> int:
    call = recording.read(arguments.folder)
    _check_line(call, arguments.library)
    if arguments.tool and not arguments.bench and call.storages and all(storage.device[0] == 1 for storage in call.storages):
        raise UserError("--tool: the tools check CUDA kernels, and the recording has tensors of the CPU only; leave out --tool, and replay the call "
                        "with a library that AddressSanitizer checks")  # fmt: skip
    if arguments.uninitialised and (arguments.minimize or arguments.bench):
        raise UserError("--uninitialised: --minimize and --bench do not support this option; leave out the option")
    is_recorded = all(storage.content is not None for storage in call.storages)
    call = _uninitialised(call, arguments.uninitialised)
    if arguments.minimize:
        return _minimize(call, arguments)
    if (arguments.on_cpu or arguments.tool) and not arguments.bench:
        return _on_cpu(arguments)
    for storage in call.storages:
        if storage.device[0] not in (1, 2, 3):
            raise UserError(f"{arguments.folder}: a tensor has DLPack device type {storage.device[0]}; supported: 1 (CPU), 2 (CUDA) and 3 (CUDA host memory)")
    if not is_recorded:
        print(f"{call.op}: values were not recorded ({call.skipped or 'KERNKIT_RECORD_VALUES'}); all elements are 0 in this call")
    if arguments.bench:
        return _bench(call, arguments)
    if arguments.here:
        return _repeat(call, arguments.library, arguments.tolerance)
    code = _in_a_process(call, arguments.library, arguments.tolerance)
    if code < 0:
        ended = "returned" if call.results else "has other sizes" if call.is_part else "did not return either"
        print(f"{call.op}: {signal.Signals(-code).name} ended the process of this call; the recorded call {ended}")
        return 1
    return code
