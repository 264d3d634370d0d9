# SPDX-License-Identifier: Apache-2.0
"""Rules for a package whose arrays have __dlpack__(), the producer of DLPack's Python specification."""
