# SPDX-License-Identifier: Apache-2.0
"""Runs of benchmark programs: result files, rows, comparisons of two runs, tables and plots."""
