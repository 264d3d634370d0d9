# SPDX-License-Identifier: Apache-2.0
"""Rules for a shared library with functions of the TVM-FFI ABI. The rules do not depend on the
purpose of a function: they call every exported function with arguments that the function must
reject, or may reject with an error."""
