# SPDX-License-Identifier: Apache-2.0
"""Traces and recordings of calls, which the hook of a library writes. Both are untrusted input."""
