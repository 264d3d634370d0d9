# SPDX-License-Identifier: Apache-2.0
"""What is read of a built library's file."""
