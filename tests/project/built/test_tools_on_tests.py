# SPDX-License-Identifier: Apache-2.0
"""The tools report no finding for this repository's tests of kernels that run from PTX, nor for the tests of the
template's sample."""

import argparse

import pytest
from cuda_tools import build
from kernkit.commands import sanitize
from kernkit.simulator.program import TOOLS_FOLDER, run_with_tools

TOOLS = [*sanitize.DEFAULT_TOOLS, "counters"]
# A GoogleTest filter that excludes tests of faults, tests that read data before waiting for a copy or read
# uninitialised bytes, tests of the tools, and a test that needs more processors than the tools use.
OF_FAULTS = "*Faults*:PtxAsync*:PtxBulkCopies.TensorLoads*:PtxBulkCopies.AChanged*:PtxBulkCopies.AMapWithoutRank:*PtxMapOfAKernel.*:PtxBulkCopyOrder.*:PtxExecution.AsynchronousCopiesLandAtTheirWait:PtxMatrix.LdmatrixBeforeTheWait:PtxDependentLaunches.*:PtxGraphMemory.*:PtxInit*:PtxUnsupportedForms.*:Ptx*Races.*:PtxMemoryModel.*:PtxCounters.*:PtxGrid.BlocksOverAllProcessors"
# A GoogleTest filter that excludes tests whose host calls fail on purpose, because memcheck reports such calls.
OF_ERRORS = "Attributes.LimitLaunches:Attributes.DecideHowManyBlocks*:Variables.OfAnotherKindOrSizeAreErrors"
OF_DRIVER_ERRORS = ("DriverMemory.FillsOfElements:DriverMemory.CopiesOfRowsAndSlices:DriverMemory.PoolsOfTheHostAreNotSupported:"
                    "DriverModules.AKernelOfPtxTextRuns:"
                    "DriverModules.ArgumentsAreInOneBuffer:DriverModules.InvalidPtxIsAnErrorOfTheLoad:"
                    "DriverModules.ALaunchBeyondALimitIsAnError:DriverModules.AnOutOfBoundsStoreIsAnErrorOfTheContext:"
                    "DriverTensorMaps.*:DriverModules.TheLinkerJoinsPtx:DriverModules.ALinkedDeviceRuntimeSynchronisesAGrid:DriverAndRuntime.OnlyTheRuntimesErrorsBecomeItsLastError:DriverEntryPoints.AFunctionReceivesSentencesAboutErrors:RandomCalls.*")  # fmt: skip
PROGRAMS = {"contract_on_ptx_test": "", "cuda_on_ptx_test": OF_ERRORS, "driver_test": OF_DRIVER_ERRORS, "gpu_on_ptx_test": "", "gpu_row_traffic_test": "",
            "ptx_test": OF_FAULTS, "row_kernels_on_ptx_test": "", "sample_on_ptx_test": "", "seeds_on_ptx_test": ""}  # fmt: skip

# Programs that nvcc compiles for half a minute or that run for half a minute.
LONG = ("gpu_on_ptx_test", "gpu_row_traffic_test", "row_kernels_on_ptx_test", "sample_on_ptx_test")


def findings(folder, program, *arguments_of_program):
    parser = argparse.ArgumentParser()
    sanitize.add_arguments(parser)
    arguments = parser.parse_args(["--runtime", *map(str, (folder / "kernkit_cudart/libcudart.so.13", program, *arguments_of_program))])
    code, results = run_with_tools(arguments, TOOLS)
    assert code == 0
    assert any(kernel["launches"] for result in results for kernel in result["kernels"])
    return sanitize.merged([finding for result in results for finding in result["findings"]])


@pytest.mark.parametrize("program", [pytest.param(name, marks=pytest.mark.slow if name in LONG else pytest.mark.all) for name in PROGRAMS])
def test_tests(root, program):
    folder = build(root, program)
    arguments = ("--gtest_brief=1", f"--gtest_filter=-{PROGRAMS[program]}")
    assert [finding["sentence"] for finding in findings(folder, folder / "bin" / program, *arguments)] == []


@pytest.mark.all
def test_programs(root):
    folder = build(root, "kernkit_cudart")
    programs = sorted((folder / "programs").iterdir())
    sources = {path.stem for path in (root / "sdk/simulator/tests/programs").glob("*.cu")}
    assert sources <= {program.name for program in programs}, "programs are missing: run ./kk build"
    # Ignores memcheck's findings "Program hit ...", because some programs make runtime calls that fail on purpose.
    by_program = {program.name: [finding for finding in findings(folder, program) if "Program hit " not in finding["sentence"]]
                  for program in programs}  # fmt: skip
    assert {name: sentences for name, sentences in by_program.items() if sentences} == {}


@pytest.mark.all
def test_all_are_named(root):
    """PROGRAMS contains every test program in which the tools can run, except for ptx_races_test."""
    programs = (build(root, "contract_on_ptx_test") / "bin").glob("*_test")
    have_tools = {path.name for path in programs if TOOLS_FOLDER.encode() in path.read_bytes()}
    assert {"contract_on_ptx_test"} <= have_tools <= {*PROGRAMS, "ptx_races_test"}
