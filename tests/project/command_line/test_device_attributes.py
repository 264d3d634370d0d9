# SPDX-License-Identifier: Apache-2.0
"""The simulator's device attributes and properties are complete, agree with each other, and match the simulated
capability. Names and members are read from the toolkit's header, so that a new attribute or property fails a test."""

import re
import shutil
import subprocess

import pytest
from cuda_tools import include_of
from test_run import kernkit_run, runtime  # noqa: F401 (a fixture)

# Members of cudaDeviceProp that equal an attribute with another name. All other members have the attribute's
# name in another spelling.
OF_PROPERTIES = {
    "sharedMemPerBlock": "MaxSharedMemoryPerBlock", "regsPerBlock": "MaxRegistersPerBlock", "memPitch": "MaxPitch",
    "maxThreadsDim": "MaxBlockDimX MaxBlockDimY MaxBlockDimZ", "maxGridSize": "MaxGridDimX MaxGridDimY MaxGridDimZ",
    "totalConstMem": "TotalConstantMemory", "major": "ComputeCapabilityMajor", "minor": "ComputeCapabilityMinor",
    "maxTexture1D": "MaxTexture1DWidth", "maxTexture1DMipmap": "MaxTexture1DMipmappedWidth",
    "maxTexture2D": "MaxTexture2DWidth MaxTexture2DHeight",
    "maxTexture2DMipmap": "MaxTexture2DMipmappedWidth MaxTexture2DMipmappedHeight",
    "maxTexture2DLinear": "MaxTexture2DLinearWidth MaxTexture2DLinearHeight MaxTexture2DLinearPitch",
    "maxTexture2DGather": "MaxTexture2DGatherWidth MaxTexture2DGatherHeight",
    "maxTexture3D": "MaxTexture3DWidth MaxTexture3DHeight MaxTexture3DDepth",
    "maxTexture3DAlt": "MaxTexture3DWidthAlt MaxTexture3DHeightAlt MaxTexture3DDepthAlt",
    "maxTextureCubemap": "MaxTextureCubemapWidth",
    "maxTexture1DLayered": "MaxTexture1DLayeredWidth MaxTexture1DLayeredLayers",
    "maxTexture2DLayered": "MaxTexture2DLayeredWidth MaxTexture2DLayeredHeight MaxTexture2DLayeredLayers",
    "maxTextureCubemapLayered": "MaxTextureCubemapLayeredWidth MaxTextureCubemapLayeredLayers",
    "maxSurface1D": "MaxSurface1DWidth", "maxSurface2D": "MaxSurface2DWidth MaxSurface2DHeight",
    "maxSurface3D": "MaxSurface3DWidth MaxSurface3DHeight MaxSurface3DDepth",
    "maxSurface1DLayered": "MaxSurface1DLayeredWidth MaxSurface1DLayeredLayers",
    "maxSurface2DLayered": "MaxSurface2DLayeredWidth MaxSurface2DLayeredHeight MaxSurface2DLayeredLayers",
    "maxSurfaceCubemap": "MaxSurfaceCubemapWidth",
    "maxSurfaceCubemapLayered": "MaxSurfaceCubemapLayeredWidth MaxSurfaceCubemapLayeredLayers",
    "memoryBusWidth": "GlobalMemoryBusWidth", "persistingL2CacheMaxSize": "MaxPersistingL2CacheSize",
    "sharedMemPerMultiprocessor": "MaxSharedMemoryPerMultiprocessor",
    "regsPerMultiprocessor": "MaxRegistersPerMultiprocessor", "sharedMemPerBlockOptin": "MaxSharedMemoryPerBlockOptin",
    "accessPolicyMaxWindowSize": "MaxAccessPolicyWindowSize", "reservedSharedMemPerBlock": "ReservedSharedMemoryPerBlock",
    "ipcEventSupported": "IpcEventSupport", "deviceNumaConfig": "NumaConfig", "deviceNumaId": "NumaId",
}  # fmt: skip
NO_ATTRIBUTE = {"name", "uuid", "luid", "luidDeviceNodeMask", "totalGlobalMem", "unifiedFunctionPointers", "reserved"}

# {compute capability: (threads of an SM, blocks of an SM, shared memory of an SM [KiB], shared memory of a block [KiB],
# ratio of the throughputs of float and double)}. Source: the tables of technical specifications and of arithmetic
# throughput in the CUDA programming guide.
GUIDE = {
    75: (1024, 16, 64, 64, 32), 80: (2048, 32, 164, 163, 2), 86: (1536, 16, 100, 99, 64), 89: (1536, 24, 100, 99, 64),
    90: (2048, 32, 228, 227, 2), 100: (2048, 32, 228, 227, 2), 120: (1536, 24, 100, 99, 64),
}  # fmt: skip


def block_of(text, start):
    return re.search(rf"{start}\s*\n{{\n(.*?)\n}};", text, re.DOTALL)[1]


@pytest.fixture(scope="module")
def header():
    folder = include_of("driver_types.h")
    if folder is None or not shutil.which("g++"):
        pytest.skip("driver_types.h is not installed (wheel nvidia-cuda-runtime)")
    return folder / "driver_types.h"


@pytest.fixture(scope="module")
def attributes(header):
    """Returns {name: number} of the enumerators of cudaDeviceAttr."""
    body = block_of(header.read_text(), "enum __device_builtin__ cudaDeviceAttr")
    numbers = {name: int(number) for name, number in re.findall(r"cudaDevAttr(\w+)\s*= (\d+),", body)}
    assert len(numbers) > 130
    return numbers


@pytest.fixture(scope="module")
def members(header):
    """Returns {member of cudaDeviceProp: number of its array elements}."""
    body = block_of(header.read_text(), "struct __device_builtin__ cudaDeviceProp")
    return {name: int(count or 1) for name, count in re.findall(r"(\w+)(?:\[(\d+)\])?;", body)}


@pytest.fixture(scope="module")
def program(header, attributes, members, tmp_path_factory):
    """Returns the path of a program that prints "ANAME CODE VALUE" for each attribute and "PMEMBER VALUES..." for each
    property."""
    lines = ["#include <cuda_runtime_api.h>", "#include <stdio.h>", "int main() {", "  int value; cudaDeviceProp p;"]
    for name, number in [*attributes.items(), ("Reserved1000", 1000)]:
        lines.append(f"  value = -7; printf(\"A{name} %d\", cudaDeviceGetAttribute(&value, cudaDeviceAttr({number}), 0)); "
                     "printf(\" %d\\n\", value);")  # fmt: skip
    lines.append("  if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 1;")
    for name, count in members.items():
        if name not in NO_ATTRIBUTE:
            values = [f"p.{name}[{i}]" for i in range(count)] if count > 1 else [f"p.{name}"]
            values = "".join(f', (long long){value}' for value in values)
            lines.append(f'  printf("P{name}{" %lld" * count}\\n"{values});')
    folder = tmp_path_factory.mktemp("attributes")
    # The program is linked with this empty library, which the simulator's runtime replaces.
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-Wl,-soname,libcudart.so.13", "-o", folder / "libcudart.so.13"],
                   input='extern "C" void cudaDeviceGetAttribute() {}\nextern "C" void cudaGetDeviceProperties() {}\n',
                   text=True, check=True)  # fmt: skip
    subprocess.run(["g++", "-isystem", header.parent, "-x", "c++", "-", "-x", "none", "-Wl,--no-as-needed",
                    folder / "libcudart.so.13", "-o", folder / "program"],
                   input="\n".join([*lines, "}"]), text=True, check=True)  # fmt: skip
    return folder / "program"


def printed(root, runtime, program, capability):  # noqa: F811
    result = kernkit_run(root, "--runtime", runtime, "--capability", capability, program)
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    values = {row[0]: [int(number) for number in row[1:]] for row in rows}
    return ({name[1:]: row for name, row in values.items() if name[0] == "A"},
            {name[1:]: row for name, row in values.items() if name[0] == "P"}, result.stderr)  # fmt: skip


def test_every_attribute_has_a_value_and_its_property_the_same(root, runtime, program, attributes, members):  # noqa: F811
    values_of, properties, errors = printed(root, runtime, program, 90)
    reserved = {name for name in values_of if name.startswith("Reserved") and not name.startswith("ReservedShared")}
    assert set(values_of) == set(attributes) | {"Reserved1000"}
    assert {name: row for name, row in values_of.items() if row[0] != 0} == {name: [801, -7] for name in reserved}
    for name in reserved:
        number = attributes.get(name, 1000)
        assert f"kernkit: cudaDeviceGetAttribute(): attribute {number} is not supported: " in errors
    by_letters = {name.lower(): name for name in values_of}
    assert set(properties) == set(members) - NO_ATTRIBUTE
    for member, values in properties.items():
        names = OF_PROPERTIES.get(member) or by_letters[member.lower()]
        assert values == [values_of[name][1] for name in names.split()], member


def test_the_table_has_the_names_of_the_header(root, attributes):
    text = (root / "sdk/simulator/runtime/device_attributes.cc").read_text()
    rows = re.findall(r'^ +\{(\d+), "(\w+)",', text, re.MULTILINE)
    assert [(name, int(number)) for number, name in rows] == [
        (name, number) for name, number in attributes.items() if not re.fullmatch(r"Reserved\d+", name)
    ]


@pytest.mark.parametrize("capability", GUIDE)
def test_limits_are_those_of_the_programming_guide(root, runtime, program, capability):  # noqa: F811
    values_of, _, _ = printed(root, runtime, program, capability)
    names = ("MaxThreadsPerMultiProcessor", "MaxBlocksPerMultiprocessor", "MaxSharedMemoryPerMultiprocessor",
             "MaxSharedMemoryPerBlockOptin", "SingleToDoublePrecisionPerfRatio")  # fmt: skip
    threads, blocks, of_sm, of_block, ratio = GUIDE[capability]
    assert [values_of[name][1] for name in names] == [threads, blocks, of_sm * 1024, of_block * 1024, ratio]
    assert [values_of[f"ComputeCapability{part}"][1] for part in ("Major", "Minor")] == [capability // 10, capability % 10]
