# SPDX-License-Identifier: Apache-2.0
"""Traces and recordings of calls, which libraries write if KERNKIT_TRACE or KERNKIT_RECORD is set. Both are untrusted
input."""
