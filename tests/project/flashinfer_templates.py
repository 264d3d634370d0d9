# SPDX-License-Identifier: Apache-2.0
"""Renders FlashInfer's templates with FlashInfer's own functions, one set of parameters per template:

    python flashinfer_templates.py FOLDER_OF_THE_UNPACKED_WHEEL [KIND DTYPE SIZE [DTYPE OF KEYS AND VALUES]]

The script prints {name of a rendered file: the file's folder} as JSON. The script needs torch for the dtypes and writes
below FLASHINFER_WORKSPACE_BASE. If KIND is given, for example single_decode, only the templates of this kind of
attention are rendered."""

import json
import pathlib
import sys
import types

import jinja2
import torch

wheel = pathlib.Path(sys.argv[1]).resolve() / "flashinfer"
# Replaces FlashInfer's __init__.py, which imports packages that rendering does not need.
package = types.ModuleType("flashinfer")
package.__path__ = [str(wheel)]
sys.modules["flashinfer"] = package

from flashinfer.jit import attention, env, rmsnorm_silu  # noqa: E402
from flashinfer.jit.mamba import checkpointing_ssu, replayssm_materialize, selective_state_update  # noqa: E402

half, i32, i64 = torch.float16, torch.int32, torch.int64
f32, bf16 = torch.float32, torch.bfloat16
TYPES = (half, half, half)
# Values of three template parameters: no positional encoding, no sliding window, no cap of logits
PLAIN = (0, False, False)


def print_folders():
    sources = sorted(env.FLASHINFER_GEN_SRC_DIR.rglob("*.inc"))
    print(json.dumps({path.name: str(path.parent) for path in sources}))


if len(sys.argv) > 2:
    kind, size = sys.argv[2], int(sys.argv[4])
    of_q, of_keys = (getattr(torch, sys.argv[at]) for at in (3, 5 if len(sys.argv) > 5 else 3))
    dtypes = (of_q, of_keys, of_q)
    version, index = [["fa2"] if "prefill" in kind else [], [i32] if "batch" in kind else []]
    more = [False] if "prefill" in kind else []
    getattr(attention, f"gen_{kind}_module")(*version, *dtypes, *index, size, size, *PLAIN, *more)
    print_folders()
    sys.exit()

attention.gen_single_decode_module(*TYPES, 128, 128, *PLAIN)
attention.gen_single_prefill_module("fa2", *TYPES, 128, 128, *PLAIN, False)
attention.gen_single_prefill_module("fa3", *TYPES, 128, 128, *PLAIN, False)
attention.gen_batch_decode_module(*TYPES, i32, 128, 128, *PLAIN)
attention.gen_batch_prefill_module("fa2", *TYPES, i32, 128, 128, *PLAIN, False)
attention.gen_batch_prefill_module("fa3", *TYPES, i32, 128, 128, *PLAIN, False)
attention.gen_pod_module(*TYPES, 128, *PLAIN, False, i32, *PLAIN)
attention.gen_batch_pod_module(*TYPES, 128, *PLAIN, False, i32, *PLAIN)
attention.gen_batch_attention_module(*TYPES, i32, 128, 128, 0, False, False)
attention.gen_batch_mla_module("fa2", *TYPES, i32, 512, 64, False)
attention.gen_batch_mla_module("fa3", *TYPES, i32, 512, 64, False)
rmsnorm_silu.gen_rmsnorm_silu_module(128, "bf16", 1, 1, 16, 0, 1)
checkpointing_ssu.gen_checkpointing_ssu_module(bf16, bf16, bf16, bf16, f32, i32, None, 64, 128, 4, 8, 8, 1)
replayssm_materialize.gen_replayssm_materialize_module(bf16, bf16, f32, 64, 128, 8, 8)
selective_state_update.gen_selective_state_update_sm90_module(bf16, bf16, bf16, f32, i32, None, 64, 128, 1, i32, i32)

# Renders the template of batch_decode_mla, the only template that no function of this version of FlashInfer renders.
folder = env.FLASHINFER_GEN_SRC_DIR / "batch_decode_mla"
folder.mkdir(parents=True, exist_ok=True)
template = jinja2.Template((env.FLASHINFER_CSRC_DIR / "batch_decode_mla_config.jinja").read_text())
parameters = {"dtype_q": "half", "dtype_kv": "half", "dtype_o": "half", "dtype_idx": "int32_t"}
parameters |= {"use_sliding_window": "false", "use_logits_soft_cap": "false"}
parameters |= {"head_dim_ckv": 512, "head_dim_kpe": 64, "qo_tile_len": 16}
(folder / "mla_config.inc").write_text(template.render(parameters))

print_folders()
