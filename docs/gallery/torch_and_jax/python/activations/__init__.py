# SPDX-License-Identifier: Apache-2.0
"""The ops of libactivations.so as functions; the build writes _ops.py, torch.py and jax.py."""

from ._ops import *  # noqa: F403
