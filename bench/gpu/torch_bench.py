# SPDX-License-Identifier: Apache-2.0
"""Measures PyTorch's mul and add with the sizes and the method of the program gpu_bench, and writes rows in the same
format.

    python bench/gpu/torch_bench.py OUT.json [--filter REGEX]

"""

import argparse
import importlib.util
import json
import re
import statistics

COLD_LAUNCHES, HOT_LAUNCHES, COLD_ROUNDS, HOT_ROUNDS = 16, 64, 8, 5
SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30, 4 << 30]
LARGEST_HOT = 64 << 20
DTYPES = {
    "scale": ["float32", "float64", "float16", "bfloat16"],
    "add": ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8"],
}


def why_not():
    """Returns the reason why PyTorch cannot be measured, such as a missing package; "" if PyTorch can be measured."""
    if not importlib.util.find_spec("torch"):
        return "torch is not installed"
    import torch

    return "" if torch.cuda.is_available() else "torch finds no CUDA device"


def rows():
    """Yields tuples (name, op, dtype, "cold" or "hot", size of one array [bytes]), in the order of gpu_bench."""
    for op, dtypes in DTYPES.items():
        for dtype in dtypes:
            for caches in ("cold", "hot"):
                for size in SIZES:
                    if caches == "cold" or size <= LARGEST_HOT:
                        yield f"{op}/{dtype}/torch/{caches}/bytes:{size}", op, dtype, caches, size


def cold_seconds(torch, launch, flush):
    pairs = []
    torch.cuda._sleep(4_000_000)  # keeps the device busy for about 2 ms, so that Python can enqueue all launches
    for _ in range(COLD_LAUNCHES):
        flush.fill_(1)
        pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        pair[0].record()
        launch()
        pair[1].record()
        pairs.append(pair)
    torch.cuda.synchronize()
    return sorted(start.elapsed_time(end) for start, end in pairs)[COLD_LAUNCHES // 2] / 1e3


def hot_seconds(torch, launch):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(HOT_LAUNCHES):
            launch()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    start.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3 / HOT_LAUNCHES


def measure(torch, op, dtype, caches, size, flush):
    dtype = getattr(torch, dtype)
    n = size // dtype.itemsize
    arrays = 2 if op == "scale" else 3
    free, _ = torch.cuda.mem_get_info()
    if arrays * size + (64 << 20) > free:
        raise RuntimeError(f"skipped: needs {arrays * size} bytes of device memory, {free} are free")
    x = torch.arange(min(n, 30), device="cuda").add_(1).to(dtype).repeat(-(-n // 30))[:n].clone()
    out = torch.full_like(x, 77)
    if op == "scale":
        launch = lambda: torch.mul(x, 2.0, out=out)
    else:
        y = x.flip(0)
        launch = lambda: torch.add(x, y, out=out)
    launch()
    last = [x[-1] * 2, x[0] * 2] if op == "scale" else [x[-1] + y[-1], x[0] + y[0]]
    if not (out[-1] == last[0] and out[0] == last[1] and not (out == 77).any()):
        raise RuntimeError("the result is wrong")
    if caches == "cold":
        seconds = [cold_seconds(torch, launch, flush) for _ in range(COLD_ROUNDS)]
    else:
        seconds = [hot_seconds(torch, launch) for _ in range(HOT_ROUNDS)]
    return statistics.mean(seconds), arrays * size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    measured, reason = [], why_not()
    if reason:
        print(f"skipped: {reason}")
    else:
        import torch

        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        flush = torch.empty(2 * l2_bytes, dtype=torch.uint8, device="cuda")
        for name, op, dtype, caches, size in rows():
            if not re.search(arguments.filter, name):
                continue
            row = {"name": name, "run_type": "iteration", "time_unit": "us"}
            try:
                seconds, moved = measure(torch, op, dtype, caches, size, flush)
                row |= {"real_time": seconds * 1e6, "bytes_per_second": moved / seconds}
            except (RuntimeError, torch.OutOfMemoryError) as error:
                row |= {"error_occurred": True, "error_message": str(error)}
            torch.cuda.empty_cache()
            measured.append(row)
            print(name, row.get("error_message") or f"{row['bytes_per_second'] / 1e9:.1f} GB/s")
    with open(arguments.out, "w") as file:
        json.dump({"context": {"skipped": reason}, "benchmarks": measured}, file, indent=1)


if __name__ == "__main__":
    main()
