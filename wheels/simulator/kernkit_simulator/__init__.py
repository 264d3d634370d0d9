# SPDX-License-Identifier: Apache-2.0
"""The compiled runtime of kernkit's CUDA simulator, for `kernkit run`."""
