# SPDX-License-Identifier: Apache-2.0
"""Compiles modules of FlashInfer by nvcc, so that the time limit of a test does not include the compilation.

    kernkit run python bench/client_suites/flashinfer_modules.py norm page single_decode --head-size 64 --head-size 128

Prints the time of each module. FlashInfer keeps the modules in the cache of `kernkit run`; a module in the cache is not
compiled again. MAX_JOBS limits the number of compilers that run at the same time. Modules of attention are compiled for
float16, without a position encoding, a sliding window or a cap of the logits.
"""

import argparse
import json
import pathlib
import resource
import time

import torch
from flashinfer import activation, cascade, decode, norm, page, prefill, quantization, rope, sampling, topk
from flashinfer.jit import build_jit_specs

HALF, INDEX = torch.float16, torch.int32
# {name: function that returns the modules with this name}
MODULES = {
    "norm": lambda: [norm.gen_norm_module()],
    "activation": lambda: [activation.gen_act_and_mul_module(name) for name in ("silu", "gelu", "gelu_tanh")],
    "rope": lambda: [rope.gen_rope_module()],
    "page": lambda: [page.gen_page_module()],
    "quantization": lambda: [quantization.gen_quantization_module()],
    "topk": lambda: [topk.gen_topk_module()],
    "cascade": lambda: [cascade.gen_cascade_module()],
    "sampling": lambda: [sampling.gen_sampling_module()],
}
# {name: function of the head size that returns the module}
ATTENTION = {
    "single_decode": lambda size: decode.gen_single_decode_module(HALF, HALF, HALF, size, size, 0, False, False),
    "batch_decode": lambda size: decode.gen_batch_decode_module(HALF, HALF, HALF, INDEX, size, size, 0, False, False),
    "single_prefill": lambda size: prefill.gen_single_prefill_module("fa2", HALF, HALF, HALF, size, size, 0, False, False, False),
    "batch_prefill": lambda size: prefill.gen_batch_prefill_module("fa2", HALF, HALF, HALF, INDEX, size, size, 0, False, False, False),
}


def processor_time():
    """Returns the processor time of this process and of the compilers that ended [s]."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def add_to_record(path, module, seconds):
    """Adds the processor time of a module [s] to a record of bench/client_suites."""
    record = json.loads(path.read_text()) if path.exists() else {}
    record.setdefault("modules", {})[module] = round(seconds, 1)
    path.write_text(json.dumps(record, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    names = [*MODULES, *ATTENTION]
    parser.add_argument("names", nargs="+", choices=names, metavar="NAME", help=f"modules: {', '.join(names)}")
    parser.add_argument("--head-size", dest="head_sizes", type=int, action="append", metavar="N",
                        help="head size of the modules of attention; can be repeated (default: 128)")  # fmt: skip
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", help="JSON file that gets the processor time of each compiled module")
    options = parser.parse_args()
    for name in options.names:
        modules = MODULES[name]() if name in MODULES else [ATTENTION[name](size) for size in options.head_sizes or [128]]
        for module in modules:
            if module.is_compiled:
                print(f"{module.name}: in the cache", flush=True)
                continue
            start, processor_start = time.monotonic(), processor_time()
            build_jit_specs([module])
            seconds = processor_time() - processor_start
            print(f"{module.name}: {time.monotonic() - start:.0f} s, {seconds:.0f} s of processor time", flush=True)
            if options.record:
                add_to_record(options.record, module.name, seconds)


if __name__ == "__main__":
    main()
