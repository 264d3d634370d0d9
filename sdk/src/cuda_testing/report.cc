// SPDX-License-Identifier: Apache-2.0
// What a sanitizer calls when it reports: says which kernel, block and thread did it.
#include <cstdio>

#include "block.h"

namespace {

void say_where() {
  const kernkit::testing::Block* block = kernkit::testing::this_block();
  if (block == nullptr || block->running() == nullptr) return;
  std::fprintf(stderr, "kernkit: in kernel %s\n", block->where(*block->running()).c_str());
}

}  // namespace

extern "C" {
void __asan_on_error() { say_where(); }
void __tsan_on_report(void*) { say_where(); }
void __ubsan_on_report() { say_where(); }
}

namespace kernkit::testing {
// Referred to, so that a static library gives this file to whoever runs kernels.
void link_report() {}
}  // namespace kernkit::testing
