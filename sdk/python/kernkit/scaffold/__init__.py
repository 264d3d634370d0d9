# SPDX-License-Identifier: Apache-2.0
"""Renders the template, keeps renderings, and merges renderings into a library's history."""
