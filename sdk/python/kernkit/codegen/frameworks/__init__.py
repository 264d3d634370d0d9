# SPDX-License-Identifier: Apache-2.0
"""The modules of a library for PyTorch and JAX, made from the shapes in its schema lines."""
