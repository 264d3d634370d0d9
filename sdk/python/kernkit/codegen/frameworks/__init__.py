# SPDX-License-Identifier: Apache-2.0
"""What frameworks learn of a library's ops, from the shapes in their schema lines."""
