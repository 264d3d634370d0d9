# SPDX-License-Identifier: Apache-2.0
"""Renderings of the template: made, kept, merged into a library's history."""
