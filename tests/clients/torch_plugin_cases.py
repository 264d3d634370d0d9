# SPDX-License-Identifier: Apache-2.0
"""Tests with each outcome that the plugin of `-p kernkit` distinguishes, see test_pytest_plugin.py."""

import ctypes
import os
import unittest

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def read_counter(y):
    tl.store(y, tl.inline_asm_elementwise("mov.u32 $0, %pm0;", "=r", [], dtype=tl.int32, is_pure=False, pack=1))


@triton.jit
def store(y, at):
    tl.store(y + at, 1.0)


@pytest.fixture
def counter():
    y = torch.zeros(1, dtype=torch.int32, device="cuda")
    read_counter[(1,)](y)
    return y


def test_passes():
    y = torch.zeros(1, device="cuda")
    store[(1,)](y, 0)
    assert y.item() == 1


def test_is_wrong():
    assert torch.ones(3, device="cuda").sum().item() == 4


def test_raises():
    raise NotImplementedError("not written yet")


def test_unsupported_instruction():
    y = torch.zeros(1, dtype=torch.int32, device="cuda")
    read_counter[(1,)](y)
    assert y.item() >= 0


def test_unsupported_instruction_in_a_fixture(counter):
    assert counter.item() >= 0


def test_unsupported_operator():
    q = torch.randn(1, 2, 16, 64, device="cuda", dtype=torch.float16)
    torch.ops.aten._scaled_dot_product_flash_attention(q, q, q)


@pytest.mark.skipif("CUBIN" not in os.environ, reason="no machine code")
def test_machine_code():
    torch.zeros(1, device="cuda")
    module = ctypes.c_void_p()
    with open(os.environ["CUBIN"], "rb") as file:
        assert ctypes.CDLL("libcuda.so.1").cuModuleLoadData(ctypes.byref(module), file.read()) == 0


@pytest.mark.parametrize("attempt", [1, 2])
def test_unsupported_function(attempt):
    torch.cuda.check_error(ctypes.CDLL("libcuda.so.1").cuArrayDestroy(None))


class TestCase(unittest.TestCase):
    def test_unsupported_operator_of_a_test_case(self):
        test_unsupported_operator()

    def test_of_a_test_case_is_wrong(self):
        self.assertEqual(torch.ones(3, device="cuda").sum().item(), 4)


def test_stores_past_the_end():
    y = torch.zeros(1, device="cuda")
    store[(1,)](y, 1 << 28)
    torch.cuda.synchronize()
