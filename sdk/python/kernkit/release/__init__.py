# SPDX-License-Identifier: Apache-2.0
"""Releases of kernkit: the project's addresses, the package's metadata, and what a release requires."""
