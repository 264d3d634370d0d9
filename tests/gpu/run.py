# SPDX-License-Identifier: Apache-2.0
"""Runs what `./kk gpu --build` built: tests, compute-sanitizer, frameworks, benchmarks. Needs Python
and a GPU, no compiler, no CMake, no network; says what it skips and why.

    python tests/gpu/run.py [--build build/gpu] [PART...]
"""

import argparse
import ctypes
import datetime
import glob
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("tests", "memcheck", "racecheck", "frameworks", "benchmarks")
# Every path of every kernel once, few launches: a sanitizer makes them up to a hundred times slower.
REDUCED = "GpuElementwise*InPlace:GpuStream*Captured*:GpuStream*EveryDevice:GpuRefusals*Different*"


def find_devices():
    """The GPUs as the driver lists them, or a sentence that says why there is none."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"no CUDA driver: {error}"
    number, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    error = cuda.cuInit(0)
    if error == 0:
        error = cuda.cuDeviceGetCount(ctypes.byref(number))
    if error != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(error, ctypes.byref(text))
        return f"the CUDA driver says: {(text.value or b'?').decode()} ({error})"
    if number.value == 0:
        return "the CUDA driver lists no device"
    devices = []
    for index in range(number.value):
        cuda.cuDeviceGetName(name, len(name), index)
        version = []
        for attribute in (75, 76):  # compute capability, major and minor
            cuda.cuDeviceGetAttribute(ctypes.byref(number), attribute, index)
            version.append(str(number.value))
        devices.append({"name": name.value.decode(), "compute_capability": ".".join(version)})
    return devices


def driver_version():
    """The driver's own version, as in "570.86.15"."""
    for path, pattern in (("/proc/driver/nvidia/version", r"Module\D*?([\d.]{5,})"),):
        if os.path.exists(path):
            found = re.search(pattern, pathlib.Path(path).read_text())
            if found:
                return found[1]
    return "unknown"


def commit(build):
    """What was built, "+" when files differed from it; `./kk gpu --build` noted it."""
    note = build / "commit"
    return note.read_text().strip() if note.exists() else "unknown"


def find_sanitizer():
    """compute-sanitizer: of the toolkit, or of the wheel nvidia-cuda-sanitizer-api."""
    on_path = shutil.which("compute-sanitizer")
    places = ["/usr/local/cuda*/bin", "/usr/local/cuda*/compute-sanitizer"]
    places += [f"{path}/nvidia/**" for path in sys.path if path.endswith("-packages")]
    found = [path for place in places for path in glob.glob(f"{place}/compute-sanitizer", recursive=True)]
    found = [path for path in found if os.path.isfile(path) and os.access(path, os.X_OK)]
    return on_path or (found[0] if found else None)


def say(text):
    print(f"==> {text}", flush=True)


class Report:
    """Counts checks and keeps what goes into the results."""

    def __init__(self):
        self.passed, self.failed, self.skipped, self.seen = 0, [], [], []

    def skip(self, name, reason):
        self.skipped.append(f"{name}: {reason}")

    def check(self, name, command, **options):
        """A program that is one check: passes when it exits with 0."""
        print(" ".join(map(str, command)), flush=True)
        code = subprocess.run(command, **options).returncode
        if code == 0:
            self.passed += 1
        else:
            self.failed.append(f"{name}: exit code {code}")
        return code == 0

    def read_junit(self, name, path, code):
        """Adds the tests in a JUnit file; a program that left none, or failed besides, has failed."""
        failed_before = len(self.failed)
        cases = ET.parse(path).iter("testcase") if path.exists() else []
        for case in cases:
            test = f"{case.get('classname')}.{case.get('name')}"
            self.seen += [p.get("value") for p in case.iter("property") if p.get("name") == "seen"]
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(test)
            elif skipped is not None:
                said = (skipped.get("message") or skipped.text or "").strip()
                self.skip(test, re.sub(r"^\S+:\d+\n", "", said))  # GoogleTest: where, then why
            else:
                self.passed += 1
        if code != 0 and len(self.failed) == failed_before:
            self.failed.append(f"{name}: exit code {code}, log above")

    def summary(self):
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def run_tests(build, out, report):
    program = build / "bin/gpu_test"
    path = out / "gpu_test.xml"
    code = subprocess.run([program, f"--gtest_output=xml:{path}", "--gtest_brief=1"]).returncode
    report.read_junit("gpu_test", path, code)
    for op in ("scale", "add"):  # the first launch of a process, captured
        name = f"gpu_test, {op} captured first"
        report.check(name, [program, f"--gtest_filter=GpuStream/{op}*Captured*", "--gtest_brief=1"])


def run_sanitizer(tool, build, report):
    sanitizer = find_sanitizer()
    if sanitizer is None:
        return report.skip(tool, "no compute-sanitizer; pip install nvidia-cuda-sanitizer-api")
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", build / "bin/gpu_test"]
    report.check(tool, [*command, f"--gtest_filter={REDUCED}", "--gtest_brief=1"])


def run_frameworks(build, out, report):
    missing = [name for name in ("pytest", "numpy", "tvm_ffi") if not importlib.util.find_spec(name)]
    if missing:
        return report.skip("frameworks", f"{', '.join(missing)} not installed for {sys.executable}")
    path = out / "pytest.xml"
    code = subprocess.run(
        [sys.executable, "-m", "pytest", ROOT / "tests/gpu", "-q", "-rfEsx", "-p", "no:cacheprovider",
         f"--junitxml={path}"],
        env={**os.environ, "LIBRARY": str(build / "lib/libkernkit_kernels.so")},
    ).returncode  # fmt: skip
    report.read_junit("pytest", path, code)


def run_benchmarks(build, out, report, options):
    """The rows of all programs, and the context of gpu_bench."""
    path = out / "gpu_bench.json"
    path.unlink(missing_ok=True)
    command = [build / "bin/gpu_bench", f"--benchmark_out={path}", "--benchmark_counters_tabular=true"]
    if not report.check("benchmarks", [*command, *options]) or not path.exists():
        return {}, []
    result = json.loads(path.read_text())
    torch_path = out / "torch_bench.json"
    torch_path.unlink(missing_ok=True)
    wanted = [o.split("=", 1)[1] for o in options if o.startswith("--benchmark_filter=")]
    command = [sys.executable, ROOT / "bench/gpu/torch_bench.py", torch_path]
    command += ["--filter", wanted[0]] if wanted else []
    if report.check("benchmarks, PyTorch", command):
        torch = json.loads(torch_path.read_text())
        result["benchmarks"] += torch["benchmarks"]
        if torch["context"]["skipped"]:
            report.skip("rows of PyTorch", torch["context"]["skipped"])
    for row in result["benchmarks"]:
        message = row.get("error_message", "")
        if message.startswith("skipped: "):
            report.skip(row["name"], message.removeprefix("skipped: "))
        elif row.get("error_occurred"):
            report.failed.append(f"{row['name']}: {message}")
    return result["context"], [tidy(row) for row in with_share_of_copy(result["benchmarks"])]


def tidy(row):
    kept = ("real_time", "time_unit", "bytes_per_second", "of_copy", "error_message")
    name = re.sub(r"(/iterations:\d+|/manual_time)", "", row["name"])
    return {"name": name, **{key: row[key] for key in kept if key in row}}


def with_share_of_copy(rows):
    """of_copy for rows that came without: of the better copy of as many bytes."""
    key = re.compile(r"/(?:cold|hot)/bytes:\d+")
    copies = {}
    for row in rows:
        if row["name"].startswith("copy/") and "bytes_per_second" in row:
            at = key.search(row["name"])[0]
            copies[at] = max(copies.get(at, 0), row["bytes_per_second"])
    for row in rows:
        at = key.search(row["name"])
        if "of_copy" not in row and "bytes_per_second" in row and at and at[0] in copies:
            row["of_copy"] = row["bytes_per_second"] / copies[at[0]]
    return rows


def write_results(folder, build, devices, context, rows, report, now):
    """One file per device and moment; returns its path."""
    name = re.sub(r"[^a-z0-9]+", "-", devices[0]["name"].lower()).strip("-")
    path = folder / f"{name}-{now:%Y-%m-%d-%H%M}.json"
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "device": devices[0]["name"],
        "devices": devices,
        "driver": driver_version(),
        "cuda_runtime": context.get("cuda_runtime", "unknown"),
        "cuda_of_driver": context.get("cuda_of_driver", "unknown"),
        "date": now.isoformat(timespec="seconds"),
        "commit": commit(build),
        "tests": {
            "passed": report.passed, "failed": report.failed, "skipped": report.skipped,
            "seen": report.seen,
        },
        "benchmarks": rows,
    }  # fmt: skip
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def main(arguments=None, devices=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/gpu")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument(
        "--architectures", action="store_true", help="print those of the GPUs here, as CMake wants them"
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    options, passed_on = parser.parse_known_args(arguments)
    unknown = [part for part in options.parts if part not in PARTS]
    unknown += [option for option in passed_on if not option.startswith("--benchmark_")]
    if unknown:
        parser.error(f"{unknown[0]} is no part; they are {', '.join(PARTS)}")
    parts = options.parts or PARTS
    build = options.build.absolute()
    devices = devices or find_devices()
    if options.architectures:
        if isinstance(devices, str):
            print(devices, file=sys.stderr)
            return 1
        print(";".join(sorted({d["compute_capability"].replace(".", "") for d in devices})))
        return 0
    report = Report()
    if isinstance(devices, str):
        for part in parts:
            report.skip(part, devices)
    elif not (build / "bin/gpu_test").exists():
        print(f"{build}/bin/gpu_test is missing: ./kk gpu --build makes it", file=sys.stderr)
        return 1
    else:
        for device in devices:
            say(f"{device['name']}, compute capability {device['compute_capability']}")
        out = build / "out"
        out.mkdir(exist_ok=True)
        for stale in out.iterdir():
            stale.unlink()
        context, rows = {}, []
        for part in parts:
            say(part)
            if part == "tests":
                run_tests(build, out, report)
            elif part in ("memcheck", "racecheck"):
                run_sanitizer(part, build, report)
            elif part == "frameworks":
                run_frameworks(build, out, report)
            else:
                context, rows = run_benchmarks(build, out, report, passed_on)
        now = datetime.datetime.now(datetime.timezone.utc)
        say(f"results: {write_results(options.results, build, devices, context, rows, report, now)}")
    for line in report.skipped:
        print(f"skipped: {line}")
    for line in report.failed:
        print(f"failed: {line}")
    print(report.summary())
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
