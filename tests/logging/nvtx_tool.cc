// SPDX-License-Identifier: Apache-2.0
// A tool that NVTX loads by NVTX_INJECTION64_PATH: prints each domain and range on standard output.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace {

nvtxDomainHandle_t create(const char* name) {
  std::printf("domain %s\n", name);
  static int domains[16];
  static int count = 0;
  return reinterpret_cast<nvtxDomainHandle_t>(&domains[count++]);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* range) {
  const bool is_text =
      range->version == NVTX_VERSION && range->messageType == NVTX_MESSAGE_TYPE_ASCII;
  std::printf("push %s\n", domain != nullptr && is_text ? range->message.ascii : "?");
  return 0;
}

int pop(nvtxDomainHandle_t domain) {
  std::printf("pop%s\n", domain != nullptr ? "" : " ?");
  std::fflush(stdout);
  return 0;
}

template <class Function>
void set(NvtxFunctionTable table, unsigned size, int index, Function function) {
  if (static_cast<unsigned>(index) < size) {
    *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, create);
  set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(table, size, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
