# SPDX-License-Identifier: Apache-2.0
"""The simulator without a GPU: its runtime for programs that nvcc compiled, and the reports of its tools."""
