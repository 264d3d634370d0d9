// SPDX-License-Identifier: Apache-2.0
// Decompression by libzstd.so.1 and liblz4.so.1, which are loaded on demand.
#pragma once

#include <cstddef>
#include <string>

namespace kernkit::simulator::ptx {

/// Decompress `size` bytes at `data` to `decompressed_size` bytes. Throw UnsupportedPtx if the
/// library is missing or the data is damaged.
std::string decompress_zstd(const unsigned char* data, size_t size, size_t decompressed_size);
std::string decompress_lz4(const unsigned char* data, size_t size, size_t decompressed_size);

}  // namespace kernkit::simulator::ptx
