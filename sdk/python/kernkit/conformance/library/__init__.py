# SPDX-License-Identifier: Apache-2.0
"""Rules for a shared library with functions of the TVM-FFI ABI. No rule needs to know what a function does: the rules
call every exported function with arguments that it must reject, or whose rejection must be clean."""
