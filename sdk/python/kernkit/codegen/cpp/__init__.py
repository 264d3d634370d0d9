# SPDX-License-Identifier: Apache-2.0
"""The C++ and CUDA files of a new op, which `kernkit add` makes from a schema."""
