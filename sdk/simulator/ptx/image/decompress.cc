// SPDX-License-Identifier: Apache-2.0
#include "ptx/image/decompress.h"

#include <dlfcn.h>

#include "ptx/parser/unsupported.h"

namespace kernkit::simulator::ptx {
namespace {

template <class Function>
Function* function_of(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* function = handle != nullptr ? dlsym(handle, name) : nullptr;
  if (function == nullptr) {
    throw UnsupportedPtx(std::string("the PTX is compressed, and ") + library +
                         " was not found: install the library, or build with nvcc's --no-compress");
  }
  return reinterpret_cast<Function*>(function);
}

std::string checked(std::string text, bool is_valid) {
  if (!is_valid) throw UnsupportedPtx("the PTX is damaged and cannot be decompressed");
  return text;
}

}  // namespace

std::string decompress_zstd(const unsigned char* data, size_t size, size_t decompressed_size) {
  using Decompress = size_t(void*, size_t, const void*, size_t);
  std::string text(decompressed_size, '\0');
  auto* decompress = function_of<Decompress>("libzstd.so.1", "ZSTD_decompress");
  const size_t written = decompress(text.data(), decompressed_size, data, size);
  return checked(std::move(text), written == decompressed_size);
}

std::string decompress_lz4(const unsigned char* data, size_t size, size_t decompressed_size) {
  using Decompress = int(const char*, char*, int, int);
  std::string text(decompressed_size, '\0');
  auto* decompress = function_of<Decompress>("liblz4.so.1", "LZ4_decompress_safe");
  const int written = decompress(reinterpret_cast<const char*>(data), text.data(),
                                 static_cast<int>(size), static_cast<int>(decompressed_size));
  return checked(std::move(text),
                 written >= 0 && static_cast<size_t>(written) == decompressed_size);
}

}  // namespace kernkit::simulator::ptx
