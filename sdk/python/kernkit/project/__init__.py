# SPDX-License-Identifier: Apache-2.0
"""A library that kernkit began: its answers, its rendering."""
