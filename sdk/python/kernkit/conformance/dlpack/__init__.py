# SPDX-License-Identifier: Apache-2.0
"""Conformance rules for packages whose arrays implement __dlpack__(), which DLPack's Python specification calls
producers."""
