# SPDX-License-Identifier: Apache-2.0
"""A library that kernkit made: files, record, git repository and manifests."""
