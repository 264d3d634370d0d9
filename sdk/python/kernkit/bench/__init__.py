# SPDX-License-Identifier: Apache-2.0
"""Runs of benchmarks: their file, their rows, comparisons, tables and plots."""
