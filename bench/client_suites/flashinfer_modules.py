# SPDX-License-Identifier: Apache-2.0
"""Compiles modules of FlashInfer by nvcc, so that the time limit of a test does not include the compilation.

    kernkit run python bench/client_suites/flashinfer_modules.py norm page single_decode

Prints the time of each module. FlashInfer keeps the modules in the cache of `kernkit run`. MAX_JOBS limits the number
of compilers that run at the same time. `single_decode`, `batch_decode` and `batch_prefill` are compiled for float16 and head
size 128.
"""

import argparse
import shutil
import time

import torch
from flashinfer import activation, cascade, decode, norm, page, prefill, quantization, rope, sampling, topk
from flashinfer.jit import build_jit_specs, env

HALF, SIZE = torch.float16, 128
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
    "single_decode": lambda: [decode.gen_single_decode_module(HALF, HALF, HALF, SIZE, SIZE, 0, False, False)],
    "batch_decode": lambda: [decode.gen_batch_decode_module(HALF, HALF, HALF, torch.int32, SIZE, SIZE, 0, False, False)],
    "single_prefill": lambda: [prefill.gen_single_prefill_module("fa2", HALF, HALF, HALF, SIZE, SIZE, 0, False, False, False)],
    "batch_prefill": lambda: [prefill.gen_batch_prefill_module("fa2", HALF, HALF, HALF, torch.int32, SIZE, SIZE, 0, False, False,
                                                               False)],
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("names", nargs="+", choices=MODULES, metavar="NAME", help=f"modules: {', '.join(MODULES)}")
    for name in parser.parse_args().names:
        start = time.monotonic()
        modules = MODULES[name]()
        build_jit_specs(modules)
        for module in modules:
            # Without the log of the build in the folder of a module, ninja would build the module again.
            for file in (".ninja_log", ".ninja_deps"):
                shutil.copy(env.FLASHINFER_JIT_DIR / file, module.build_dir)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
