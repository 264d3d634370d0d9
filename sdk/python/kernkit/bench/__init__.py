# SPDX-License-Identifier: Apache-2.0
"""Runs of benchmarks: their file, their rows, what is said of them."""
