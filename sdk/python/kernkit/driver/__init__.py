# SPDX-License-Identifier: Apache-2.0
"""The commands of ./kk, of a library and of kernkit's repository."""
