# SPDX-License-Identifier: Apache-2.0
"""What ./kk does besides preparing a machine: of a library, and of kernkit's repository."""
