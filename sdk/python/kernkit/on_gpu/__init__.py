# SPDX-License-Identifier: Apache-2.0
"""Modules of `kernkit gpu`: devices, results, and the tests of frameworks."""
