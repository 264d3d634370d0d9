# SPDX-License-Identifier: Apache-2.0
"""Readers of a built library's file."""
