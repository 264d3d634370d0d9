# SPDX-License-Identifier: Apache-2.0
"""What `kernkit add` makes of a schema: a kernel's files."""
