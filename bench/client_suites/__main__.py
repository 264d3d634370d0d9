# SPDX-License-Identifier: Apache-2.0
"""Runs the unmodified tests of a package that compiles CUDA kernels, in the simulator, and counts their outcomes.

    python bench/client_suites numba numba.cuda.tests --settings numba-cuda/testing/pytest.ini --out numba.json
    python bench/client_suites flashinfer flashinfer/tests --settings flashinfer/pytest.ini --out flashinfer.json \\
        --file utils/test_norm.py --file attention/test_rope.py --together 100

A seed draws tests from all tests that pytest collects, before the first test runs; with `--file`, from the tests of
each named file. `--match PATTERN` draws only from tests whose name matches; `--leave-out PATTERN REASON` does not run
the drawn tests whose name matches, and counts them as not reached. Each test runs pytest under `kernkit run` in a
separate process with a time limit. `--together N` runs up to N tests of a file in one process. A test that neither
passes nor is skipped in that process runs once more, in a separate process, and the result of the second run counts.
The JSON file is written after each process: a second run with the same file continues, and may name more files of
tests, with other limits and selections, which are recorded for each file of tests. `--merge FILE` adds the results of
another record, so that runs at the same time can make one record. The Markdown table is printed at the end.
"""

import argparse
import concurrent.futures
import importlib.metadata
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path[:0] = [str(ROOT / "bench/python"), str(FOLDER)]

from endings import NOT_REACHED, PASSED, SKIPPED, Ending, classify, read_record, table  # noqa: E402
from limited_run import run_with_limit  # noqa: E402
from rows import processor  # noqa: E402

# For each client, the package whose version is recorded.
DISTRIBUTIONS = {"numba": "numba-cuda", "cupy": "cupy-cuda13x", "triton": "triton", "cuda.core": "cuda-core",
                 "flashinfer": "flashinfer-python", "pytorch": "torch", "liger_kernel": "liger-kernel",
                 "causal_conv1d": "causal-conv1d"}  # fmt: skip
# The last option discards `addopts` in the settings of the package, which could select other tests.
PYTEST = ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:warnings", "--no-header", "-o", "addopts="]


def command(options, *words):
    """Returns the command line that runs pytest with these arguments in the simulator."""
    runtime = ["--runtime", str(options.runtime.resolve())] if options.runtime else []
    settings = ["-c", str(options.settings.resolve())] if options.settings else []
    return [sys.executable, "-m", "kernkit", "run", *runtime, *options.run_options, sys.executable, *PYTEST, *settings, *options.pytest_options, *words]


def environment():
    paths = [str(ROOT / "sdk/python"), str(FOLDER), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def selection(options, file=""):
    """Returns the arguments of pytest that select the tests of a file, or all tests without a file."""
    if options.tests.is_dir():
        return [str(options.tests.resolve() / file)]
    return ["--pyargs", ".".join([str(options.tests), *file.removesuffix(".py").split("/")]).rstrip(".")]


def collect(options):
    """Returns {file: sorted names of its tests} for the files of --file, or {"": names of all tests} without --file.
    The file in a name is relative to the folder or module of the tests."""
    files = [word for file in options.files or [""] for word in selection(options, file)]
    words = ["--collect-only", "--continue-on-collection-errors", *files]
    done = subprocess.run(command(options, *words), cwd=options.cwd, env=environment(), capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if ".py::" in line.split("[")[0] and not line.startswith(("ERROR", "FAILED"))]
    if options.files:
        names = {file: sorted({file + line[line.index("::") :] for line in lines if f"/{line}".partition("::")[0].endswith(f"/{file}")})
                 for file in options.files}  # fmt: skip
    else:
        folder = os.path.commonpath([os.path.dirname(line.split("::")[0]) for line in lines] or [""])
        names = {"": sorted({line[len(folder) :].lstrip("/") for line in lines})}
    empty = [str(options.tests / file) for file, of_file in names.items() if not of_file]
    if empty:
        sys.exit(f"{', '.join(empty)}: pytest collects no test\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return names


def selected(names, options):
    """Returns the tests that --match selects."""
    return [name for name in names if options.select.search(name)]


def draw(names, options):
    """Returns the tests that the seed draws from the selected tests."""
    names = selected(names, options)
    return random.Random(options.seed).sample(names, min(options.count, len(names)))


def left_out(options, name):
    """Returns the reason of --leave-out for a test; None for a test that runs."""
    return next((reason for pattern, reason in options.left_out if re.search(pattern, name)), None)


def run_process(options, names, limit, *words):
    """Runs pytest with the named tests, which are of one file, for at most `limit` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = pathlib.Path(folder, "chosen.json")
        chosen.write_text(json.dumps([name.partition("::")[2] for name in names]))
        words = ["-p", "chosen_tests", f"--chosen-tests={chosen}", *words, "--tb=short", *selection(options, names[0].split("::")[0])]
        return run_with_limit(command(options, *words), limit, options.cwd, environment())


def run_test(options, name):
    """Runs a test in a process of its own. Returns how the test ended, and its time [s]."""
    run = run_process(options, [name], options.limit)
    return classify(run.code, run.output, run.errors), run.seconds


def run_together(options, names):
    """Runs tests of one file in one process. If a test ends the process, runs the tests after that test in a further
    process. Returns {name: (ending, time [s])} of the tests that passed, were skipped or were not reached."""
    results, waiting = {}, {name.partition("::")[2]: name for name in names}
    with tempfile.TemporaryDirectory() as folder:
        endings = pathlib.Path(folder, "endings")
        while waiting:
            endings.write_text("")
            run_process(options, [*waiting.values()], options.limit * (len(waiting) + 1), f"--endings={endings}",
                        f"--test-limit={options.limit}")  # fmt: skip
            ended = [json.loads(line) for line in endings.read_text().splitlines()]
            for short_name, kind, reason, seconds in ended:
                name = waiting.pop(short_name)
                if kind in (PASSED, SKIPPED, NOT_REACHED):
                    results[name] = Ending(kind, reason), seconds
            if not ended:
                break
            waiting.pop(next(iter(waiting), None), None)  # drops the test that ended the process
    return results


def groups(names, size):
    """Splits the names into lists of at most `size` names, each with tests of one file."""
    by_file = {}
    for name in names:
        by_file.setdefault(name.split("::")[0], []).append(name)
    return [of_file[i : i + size] for of_file in by_file.values() for i in range(0, len(of_file), size)]


def new_context(options, by_file):
    """Returns the context of a run for the record: the client and its version, the number of tests, the seed, the
    processor, and the settings of the run. With --file, the settings of each file of tests are in `files`."""
    context = {"client": options.client, "version": importlib.metadata.version(DISTRIBUTIONS[options.client]),
               "collected": sum(map(len, by_file.values())), "seed": options.seed, "processor": processor()}  # fmt: skip
    settings = {"limit_s": options.limit, "together": options.together}
    if not options.files:
        return {**context, **settings}
    context["files"] = {file: {"tests": len(names), "selected": len(selected(names, options)), "select": options.select.pattern,
                               "count": options.count, **settings} for file, names in by_file.items()}  # fmt: skip
    return context


def merge_context(previous, context):
    """Returns the context of a record that a further run continues. Returns None if the contexts differ in more than
    the files of tests, or in the settings of a file that both name."""
    if "files" not in previous or "files" not in context:
        return context if previous == context else None
    changing = {"files": None, "collected": None}
    repeated = previous["files"].keys() & context["files"].keys()
    if {**previous, **changing} != {**context, **changing} or any(previous["files"][file] != context["files"][file] for file in repeated):
        return None
    files = {**previous["files"], **context["files"]}
    return {**context, "files": files, "collected": sum(file["tests"] for file in files.values())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("client", choices=DISTRIBUTIONS)
    parser.add_argument("tests", type=pathlib.Path, help="folder or module of the tests")
    parser.add_argument("--settings", type=pathlib.Path, metavar="FILE", help="the package's settings file of pytest, such as pytest.ini")
    parser.add_argument("--file", dest="files", action="append", default=[], metavar="FILE",
                        help="file below the folder of the tests; with several files, --count tests of each file are drawn")  # fmt: skip
    parser.add_argument("--match", dest="select", type=re.compile, default=re.compile(""), metavar="PATTERN",
                        help="regular expression that is searched in the names of tests; tests without it are not drawn")  # fmt: skip
    parser.add_argument("--leave-out", dest="left_out", nargs=2, action="append", default=[], metavar=("PATTERN", "REASON"),
                        help="counts drawn tests as not reached if the regular expression is found in their names")  # fmt: skip
    parser.add_argument("--count", type=int, default=500, help="number of tests that are drawn (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed by which the tests are drawn (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=60, metavar="S", help="time limit of a test in seconds (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of tests that run at the same time (default: %(default)s)")
    parser.add_argument("--together", type=int, default=1, metavar="N", help="number of tests that share a process (default: 1)")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="FILE", help="JSON file for the results")
    parser.add_argument("--merge", dest="merged", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="record whose results are added to the results; can be repeated")  # fmt: skip
    parser.add_argument("--runtime", type=pathlib.Path, metavar="LIBRARY", help="compiled libcudart.so.13 of kernkit")
    parser.add_argument("--run-option", dest="run_options", action="append", default=[], metavar="OPTION",
                        help="option that is passed to kernkit run")  # fmt: skip
    parser.add_argument("--pytest-option", dest="pytest_options", action="append", default=[], metavar="OPTION",
                        help="option that is passed to pytest")  # fmt: skip
    options = parser.parse_args()
    options.cwd = options.settings.resolve().parent if options.settings else None
    by_file = collect(options)
    drawn = [name for of_file in by_file.values() for name in draw(of_file, options)]
    context, results = new_context(options, by_file), {}
    for path in [*([options.out] if options.out.exists() else []), *options.merged]:
        record = json.loads(path.read_text())
        merged = merge_context(record["context"], context)
        if merged is None:
            parser.error(f"{path} is the record of another run: {record['context']}; name another file")
        context = merged
        results.update(record["results"])
    lock = threading.Lock()

    def write_record():
        written = options.out.with_name(f"{options.out.name}.part")
        written.write_text(json.dumps({"context": context, "results": results}, indent=1) + "\n")
        written.replace(options.out)  # an interrupted run leaves a complete file

    def record_result(name, ending, seconds):
        with lock:
            results[name] = {"ending": ending.kind, "reason": ending.reason, "seconds": round(seconds, 1)}
            write_record()
            print(f"{len(results)}/{len(drawn)} {ending.kind}: {name} {ending.reason}", file=sys.stderr, flush=True)

    def run_group(names):
        for name in names:
            reason = left_out(options, name)
            if reason is not None:
                record_result(name, Ending(NOT_REACHED, reason), 0)
        names = [name for name in names if name not in results]
        together = run_together(options, names) if len(names) > 1 else {}
        for name, (ending, seconds) in together.items():
            record_result(name, ending, seconds)
        for name in names:
            if name not in together:
                record_result(name, *run_test(options, name))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run_group, groups([name for name in drawn if name not in results], options.together)))
    write_record()
    print(table(context, read_record({"results": results})))


if __name__ == "__main__":
    main()
