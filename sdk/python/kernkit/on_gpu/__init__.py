# SPDX-License-Identifier: Apache-2.0
"""What `kernkit gpu` needs: devices, results, and the tests of frameworks."""
