# SPDX-License-Identifier: Apache-2.0
"""Runs programs that nvcc compiled in the simulator, without a GPU, and prints the reports of its tools."""
