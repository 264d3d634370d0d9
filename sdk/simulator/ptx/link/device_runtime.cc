// SPDX-License-Identifier: Apache-2.0
// Signatures: cuda_device_runtime_api.h of CUDA 13.0.
#include "ptx/link/device_runtime.h"

namespace kernkit::simulator::ptx {
namespace {

// A grid's barrier is a counter at byte 4 of the memory that %envreg1 and %envreg2 address, whose
// highest bit changes when all blocks have arrived: block 0 adds what the other blocks, which add
// 1, leave to 2^31. Code of nvcc uses the same counter. The functions are weak, so that a program
// may add the library twice.
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

}  // namespace

const char* device_runtime_for(const std::string& name) {
  const std::string file = name.substr(name.rfind('/') + 1);
  return file == "libcudadevrt.a" ? kDeviceRuntime : nullptr;
}

}  // namespace kernkit::simulator::ptx
