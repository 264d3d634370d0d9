# SPDX-License-Identifier: Apache-2.0
"""A run of benchmarks: rows with samples, and the rows with which a row is compared.

A row is named <what>/.../<implementation>[/cold or /hot][/<key>:<value>...], as in
scale/float32/kernkit/bytes:4096. The entry "ours" of the run's context lists names of libraries, by
default only "kernkit". A row is ours if its <implementation> is such a name, or such a name
followed by "-" and a variant, as in kernkit-threads. The peers of our row are the rows of other
implementations in the same program with the same <what>/... and the same keys. A variant can begin
with the name of a peer <x>, as in kernkit-<x> or kernkit-<x>-<how>; <x> is then the row's only peer.
The ceiling of a row is the fastest row copy/<how>/<key>:<value> of the same program with the same
keys; the row of memcpy is the ceiling only if no other copy was measured. If the number of
bytes also depends on the dtype, these rows are named copy/<dtype>/<how>/<key>:<value>.
"""

import dataclasses
import json
import math
import pathlib
import re
import statistics
from typing import Any, Dict, List, Optional, Tuple

from ..errors import UserError

FORMAT = 1
BUSY = 0.10  # largest share of the processors that other programs may use in a reliable run
# Dtypes in the order in which tables list them; other dtypes follow in alphabetical order.
DTYPES = ("float32", "float64", "float16", "bfloat16")
# Suffixes that Google Benchmark appends to the name of a row: clock, iterations, repetitions, minimum time, and one
# thread.
_TIMING = re.compile(r"/(real_time|manual_time|process_time|(iterations|repeats|min_time)(:[^/]*)?)"
                     r"(?=/|$)|/threads:1$")
_WALL_CLOCK = re.compile(r"/(real_time|manual_time)(?=/|$)")
_KEY = re.compile(r"(\w+:[^:]*|cold|hot)$")
_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclasses.dataclass
class Row:
    """One benchmark, with one sample per round. `unit` is the unit of the samples: "ns", "bytes" or "lines". A smaller
    sample is better."""

    program: str
    name: str
    unit: str = "ns"
    samples: List[float] = dataclasses.field(default_factory=list)
    bytes: float = 0  # bytes that one iteration reads and writes; 0 if the program does not count bytes
    reason: str = ""  # reason why the row has no samples: "skipped: ..." if the row was skipped, an error text if it failed

    @property
    def path(self) -> List[str]:
        return [part for part in self.name.split("/") if not _KEY.match(part)]

    @property
    def keys(self) -> str:
        return "/".join(part for part in self.name.split("/") if _KEY.match(part))

    @property
    def implementation(self) -> str:
        return self.path[-1]

    @property
    def subject(self) -> str:
        return "/".join(self.path[:-1])

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def order(self) -> Tuple[Any, ...]:
        """Returns the sort key of rows: keys are sorted by their numbers, and the dtypes of DTYPES come first."""
        dtypes = [(DTYPES.index(part) if part in DTYPES else len(DTYPES), part) for part in self.path[:-1]]
        return self.program, dtypes, key_order(self.keys), self.implementation

    @property
    def spread(self) -> Optional[float]:
        """Returns half the interquartile range of the samples divided by their median, or None for a row with one
        sample."""
        if len(self.samples) < 2:
            return None
        low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
        return (high - low) / 2 / self.median

    @property
    def rate(self) -> float:
        """Returns the bytes per second of the row, or 0 for a row that counts no bytes."""
        return self.bytes / self.median * 1e9


@dataclasses.dataclass
class Run:
    """The rows of one run, and the run's context, such as machine, date and versions."""

    context: Dict[str, Any]
    rows: List[Row]

    @property
    def measured(self) -> List[Row]:
        return [row for row in self.rows if row.samples]

    @property
    def ours(self) -> List[str]:
        """Returns the names of the libraries whose rows are ours in this run (see the module's docstring)."""
        return self.context.get("ours") or ["kernkit"]

    def variant(self, implementation: str) -> Optional[str]:
        """Returns the variant in the name of our implementation, such as "threads" for kernkit-threads and "" for
        kernkit, or None for the name of a peer."""
        for name in self.ours:
            if implementation == name or implementation.startswith(name + "-"):
                return implementation[len(name) + 1:]
        return None

    def is_ours(self, row: Row) -> bool:
        return len(row.path) > 1 and self.variant(row.implementation) is not None

    def copies(self, row: Row) -> List[Row]:
        """Returns the rows from which the row's ceiling is chosen: the copies with the same keys in the same program.
        If a copy has the row's dtype, only the copies of this dtype are returned."""
        if not row.bytes or row.path[0] == "copy":
            return []
        copies = [other for other in self.measured if other.program == row.program
                  and other.path[0] == "copy" and other.keys == row.keys]
        return [copy for copy in copies if copy.path[1:-1] == row.path[1:-1]] or copies

    def ceiling(self, row: Row) -> Optional[Row]:
        """Returns the row of the fastest copy, or None if the row has no copies. The row of memcpy is returned only if
        the program measures no other copy."""
        copies = self.copies(row)
        better = [copy for copy in copies if copy.implementation != "memcpy"] or copies
        return max(better, key=lambda copy: copy.rate, default=None)

    def memcpy(self, row: Row) -> Optional[Row]:
        """Returns the row that measures memcpy for the same number of bytes, or None."""
        return next((copy for copy in self.copies(row) if copy.implementation == "memcpy"), None)

    def ceiling_name(self, row: Row) -> str:
        """Returns the name of the row's ceiling for messages: "memcpy" or "the best copy"."""
        return "memcpy" if self.ceiling(row) is self.memcpy(row) else "the best copy"

    def peers(self, row: Row) -> List[Row]:
        """Returns the rows of the row's peers (see the module's docstring)."""
        same_work = [candidate for candidate in self.measured if candidate.program == row.program
                     and candidate.subject == row.subject and candidate.keys == row.keys and not self.is_ours(candidate)]
        variant = f"{self.variant(row.implementation)}-"
        variants = [candidate for candidate in same_work if variant.startswith(f"{candidate.implementation}-")]
        return variants or same_work


def parse(text: str) -> Dict[str, Any]:
    """Returns {"context": ..., "rows": ...} from the text of a run's file, or from the JSON output
    of one program of Google Benchmark."""
    content = json.loads(text)
    if "rows" in content:
        return content
    rows: Dict[str, Dict[str, Any]] = {}
    for entry in content["benchmarks"]:
        if entry.get("run_type") == "aggregate":
            continue
        name = _TIMING.sub("", _TIMING.sub("", entry["name"]))
        row = rows.setdefault(name, {"name": name, "samples": []})
        if entry.get("error_occurred") or entry.get("skipped"):
            reason = entry.get("error_message") or entry.get("skip_message") or "no reason given"
            row["reason"] = ("" if entry.get("error_occurred") else "skipped: ") + reason
            continue
        row["unit"] = entry.get("unit", "ns")
        unit = _NANOSECONDS[entry.get("time_unit", "ns")]
        row["samples"].append(entry["real_time"] * unit)
        if "bytes_per_second" in entry:
            # Google Benchmark divides the number of bytes by the processor time, unless the row's name has the suffix
            # of another clock.
            by = entry["real_time"]
            if "cpu_time" in entry and not _WALL_CLOCK.search(entry["name"]):
                by = entry["cpu_time"]
            row["bytes"] = round(entry["bytes_per_second"] * by * unit / 1e9)
    about = content.get("context") or {k: v for k, v in content.items() if k != "benchmarks"}
    return {"context": about, "rows": list(rows.values())}


def load(path: pathlib.Path) -> Run:
    """Returns the run in a file. Raises UserError if the file does not exist, or if its content is not a run."""
    try:
        content = parse(path.read_text())
        rows = [Row(**{"program": "", **row}) for row in content["rows"]]
        return Run(content["context"], rows)
    except FileNotFoundError:
        raise UserError(f"file {path} not found; ./kk bench writes build/bench/run.json") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path} is not a run of benchmarks; name a file that ./kk bench wrote") from None


def save(run: Run, path: pathlib.Path) -> None:
    """Writes a run as JSON, with one line for each row."""
    default = Row("", "")
    lines = []
    for row in run.rows:
        fields = {key: value for key, value in dataclasses.asdict(row).items()
                  if value != getattr(default, key)}
        if row.samples:
            fields["samples"] = [float(f"{sample:.5g}") for sample in row.samples]
        lines.append(json.dumps(fields))
    context = json.dumps(run.context, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"format": %d,\n"context": %s,\n"rows": [\n%s\n]}\n'
                    % (FORMAT, context, ",\n".join(lines)))


def format_time(nanoseconds: float) -> str:
    """Returns `nanoseconds` as text with a suitable unit, such as "5.21 ns", "3.1 us" or "1.56 s"."""
    for factor, unit in ((1, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")):
        if nanoseconds < 999.5 * factor or unit == "s":
            return f"{nanoseconds / factor:.3g} {unit}"
    raise AssertionError


def format_size(count: float) -> str:
    """Returns a number of bytes as text with a suitable unit, such as "64 KiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.3g} {unit}" if count < 100 else f"{count:.0f} {unit}"
        count /= 1024
    raise AssertionError


def format_value(row: Row) -> str:
    """Returns the median of the row's samples as text with its unit."""
    if row.unit == "ns":
        return format_time(row.median)
    return format_size(row.median) if row.unit == "bytes" else f"{row.median:.0f} {row.unit}"


def format_spread(row: Row) -> str:
    """Returns the spread of a row as a share of the median, such as "±12%", or "" for a row with one sample."""
    return "" if row.spread is None else f"±{row.spread:.0%}"


def format_ratio(value: float) -> str:
    """Returns a ratio as text, with two digits after the decimal point, or with one significant digit below 0.01."""
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


def key_order(keys: str) -> Tuple[Any, ...]:
    """Returns the sort key for a row's keys, which sorts by the numbers: n:1/d:64, n:64/d:64, n:1024/d:64."""
    numbers, names = [], []
    for part in keys.split("/"):
        name, _, value = part.rpartition(":")
        numbers += [float(value)] if value.isdigit() else []
        names.append(name if value.isdigit() else part)
    return names, numbers


def size_of(row: Row) -> float:
    """Returns the size by which rows are sorted: the product of the numbers in the row's keys, such as 4096 for
    n:64/d:64."""
    return math.prod(key_order(row.keys)[1])
