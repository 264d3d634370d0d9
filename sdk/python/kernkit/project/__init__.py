# SPDX-License-Identifier: Apache-2.0
"""A library that kernkit began: its files, its record, its git repository, its manifest."""
