# SPDX-License-Identifier: Apache-2.0
"""Generates the C++ and CUDA files of a new op from a schema, for `kernkit add`."""
