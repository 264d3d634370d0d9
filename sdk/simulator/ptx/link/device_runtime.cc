// SPDX-License-Identifier: Apache-2.0
// Signatures: cuda_device_runtime_api.h of CUDA 13.0.
#include "ptx/link/device_runtime.h"

#include <initializer_list>

namespace kernkit::simulator::ptx {
namespace {

// The barrier of a grid is a counter at byte 4 of the memory whose address is in %envreg1 and
// %envreg2. Block 0 adds 2^31 minus the number of other blocks, and every other block adds 1: the
// highest bit changes when all blocks have arrived. Code from nvcc uses the same counter. The
// functions are weak, so that a program may link the library twice.
constexpr const char* kDeviceRuntime = R"(.version 7.0
.target sm_70
.address_size 64
.weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd1, {%r2, %r1};
  st.param.b64 [handle], %rd1;
  ret;
}
.weak .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<4>;
  .reg .b32 %r<14>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  barrier.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $passed;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mul.lo.u32 %r4, %r4, %r5;
  mov.u32 %r5, %nctaid.z;
  mul.lo.u32 %r4, %r4, %r5;
  sub.u32 %r4, -2147483647, %r4;
  mov.u32 %r6, %ctaid.x;
  mov.u32 %r7, %ctaid.y;
  mov.u32 %r8, %ctaid.z;
  or.b32 %r6, %r6, %r7;
  or.b32 %r6, %r6, %r8;
  setp.eq.u32 %p2, %r6, 0;
  selp.u32 %r9, %r4, 1, %p2;
  atom.add.release.gpu.u32 %r10, [%rd1+4], %r9;
$waiting:
  ld.acquire.gpu.u32 %r11, [%rd1+4];
  xor.b32 %r12, %r10, %r11;
  setp.ge.s32 %p3, %r12, 0;
  @%p3 bra $waiting;
$passed:
  barrier.sync 0;
  st.param.b32 [error], 0;
  ret;
}
)";

// Declarations of the functions with which a kernel launches another kernel.
constexpr const char* kLaunchFunctions = R"(
.extern .func (.param .b64 buffer) __cudaCDP2GetParameterBufferV2(.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 error) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
)";

// cudaMemcpyAsync() and cudaMemsetAsync() in a kernel launch a child kernel that stores the bytes,
// so that the tools check its accesses and the stream orders its execution. kFirstByte is the start
// of the PTX of the child kernel, kStoreBytes the end. Thread t of n threads in the grid stores %r5
// in the bytes t, t + n, t + 2n and so on.
constexpr const char* kFirstByte = R"(
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.b64 %rd1, [to];
  ld.param.b64 %rd3, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r3, %r1, %r2, %r3;
  mov.u32 %r1, %nctaid.x;
  mul.lo.s32 %r4, %r1, %r2;
  cvt.u64.u32 %rd4, %r3;
  cvt.u64.u32 %rd5, %r4;
)";
constexpr const char* kStoreBytes = R"(
  add.s64 %rd7, %rd1, %rd4;
  st.u8 [%rd7], %r5;
  add.s64 %rd4, %rd4, %rd5;
  bra $next;
$end:
  ret;
}
)";

// Launches the kernel whose address is in %rd7 with three 64-bit parameters: `to` (%rd1), the
// second parameter (%rd2) and `count` (%rd3).
constexpr const char* kLaunch = R"(
  ld.param.b64 %rd1, [to];
  ld.param.b64 %rd3, [count];
  ld.param.b64 %rd4, [stream];
  setp.eq.u64 %p1, %rd3, 0;
  @%p1 bra $end;
  add.s64 %rd6, %rd3, 255;
  shr.u64 %rd6, %rd6, 8;
  min.u64 %rd6, %rd6, 64;
  cvt.u32.u64 %r1, %rd6;
  {
    .param .b64 kernel_address;
    .param .align 4 .b8 grid[12];
    .param .align 4 .b8 block[12];
    .param .b32 shared;
    .param .b64 buffer;
    st.param.b64 [kernel_address], %rd7;
    st.param.b32 [grid], %r1;
    st.param.b32 [grid+4], 1;
    st.param.b32 [grid+8], 1;
    st.param.b32 [block], 256;
    st.param.b32 [block+4], 1;
    st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0;
    call.uni (buffer), __cudaCDP2GetParameterBufferV2, (kernel_address, grid, block, shared);
    ld.param.b64 %rd5, [buffer];
  }
  st.b64 [%rd5], %rd1;
  st.b64 [%rd5+8], %rd2;
  st.b64 [%rd5+16], %rd3;
  {
    .param .b64 buffer;
    .param .b64 stream_of_launch;
    .param .b32 launch_error;
    st.param.b64 [buffer], %rd5;
    st.param.b64 [stream_of_launch], %rd4;
    call.uni (launch_error), __cudaCDP2LaunchDeviceV2, (buffer, stream_of_launch);
  }
$end:
  st.param.b32 [error], 0;
  ret;
}
)";

// Returns the definition of a function of the device runtime that launches a kernel. `parameters`:
// the function's parameters between `to` and `count`; `second`: PTX that loads the kernel's second
// parameter into %rd2.
std::string launcher(const std::string& name, const char* parameters, const char* kernel,
                     const char* second) {
  return ".weak .func (.param .b32 error) " + name + "(.param .b64 to, " + parameters +
         ".param .b64 stream)\n{\n  .reg .pred %p<2>;\n  .reg .b32 %r<3>;\n" +
         "  .reg .b64 %rd<8>;\n  mov.b64 %rd7, " + kernel + ";\n" + second + kLaunch;
}

// Returns the definition of a kernel that stores bytes. `second`: PTX that loads the second
// parameter; `byte`: PTX that loads byte %rd4 of the source into %r5.
std::string kernel(const char* name, const char* second_parameter, const char* second,
                   const char* byte) {
  return std::string(".weak .entry ") + name + "(.param .b64 to, .param .b64 " + second_parameter +
         ", .param .b64 count)\n{" + kFirstByte + second +
         "$next:\n  setp.ge.u64 %p1, %rd4, %rd3;\n  @%p1 bra $end;\n" + byte + kStoreBytes;
}

std::string copies() {
  std::string text =
      std::string(".version 7.0\n.target sm_70\n.address_size 64\n") + kLaunchFunctions;
  text += kernel("cudaMemcpyAsync_in_kernel", "from", "  ld.param.b64 %rd2, [from];\n",
                 "  add.s64 %rd6, %rd2, %rd4;\n  ld.u8 %r5, [%rd6];");
  text += kernel("cudaMemsetAsync_in_kernel", "value", "  ld.param.u32 %r5, [value];\n", "");
  for (const char* variant : {"", "_ptsz"}) {
    text += launcher(std::string("__cudaCDP2MemcpyAsync") + variant,
                     ".param .b64 from, .param .b64 count, .param .b32 kind, ",
                     "cudaMemcpyAsync_in_kernel", "  ld.param.b64 %rd2, [from];");
    text += launcher(std::string("__cudaCDP2MemsetAsync") + variant,
                     ".param .b32 value, .param .b64 count, ", "cudaMemsetAsync_in_kernel",
                     "  ld.param.u32 %r2, [value];\n  cvt.u64.u32 %rd2, %r2;");
  }
  return text;
}

}  // namespace

const std::string& device_copies() {
  static const std::string text = copies();
  return text;
}

const char* device_runtime_for(const std::string& name) {
  const std::string file = name.substr(name.rfind('/') + 1);
  return file == "libcudadevrt.a" ? kDeviceRuntime : nullptr;
}

}  // namespace kernkit::simulator::ptx
