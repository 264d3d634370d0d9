# SPDX-License-Identifier: Apache-2.0
"""The commands of ./kk, in a library and in kernkit's repository."""
