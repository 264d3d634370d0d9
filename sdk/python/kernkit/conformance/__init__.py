# SPDX-License-Identifier: Apache-2.0
"""Rules of the TVM-FFI ABI and of DLPack, and their results for the libraries and array packages of any project.

`library/` has the rules for a shared library, and `dlpack/` the rules for a package whose arrays have `__dlpack__()`. A
rule is a function of the product (rule.py). The rules run in a child process (child.py, runner.py), so that a crash is
the result of a rule. table.py prints the results.
"""
