// SPDX-License-Identifier: Apache-2.0
// BytesView: a bytes argument or result.
#pragma once

#include "kernkit/call/argument.h"
#include "kernkit/call/result.h"

namespace kernkit {

/// Borrowed bytes: the schema type `bytes`. A parameter is valid during the call; the host (tvm_ffi
/// or kernkit's runtime) copies the bytes of a result. Members throw nothing. (An owning class such
/// as std::vector<uint8_t> can be returned as well.)
class BytesView {
 public:
  /// An empty view, whose data() is null.
  constexpr BytesView() = default;
  /// Borrows `size` bytes at `data`, which must outlive the view; `data` may be null if `size` is
  /// 0.
  BytesView(const void* data, size_t size)
      : data_(static_cast<const unsigned char*>(data)), size_(size) {}

  /// Address of the first byte, valid as long as the borrowed bytes; may be null if size() is 0.
  constexpr const unsigned char* data() const { return data_; }
  /// Number of bytes.
  constexpr size_t size() const { return size_; }
  /// True for a size of 0.
  constexpr bool empty() const { return size_ == 0; }
  /// Returns byte i, counted from 0 (0 to 255). The index is not checked.
  constexpr unsigned char operator[](size_t i) const { return data_[i]; }
  /// Iterator at the first byte, valid as long as the borrowed bytes.
  constexpr const unsigned char* begin() const { return data_; }
  /// Iterator past the last byte, valid as long as the borrowed bytes.
  constexpr const unsigned char* end() const { return data_ + size_; }

 private:
  const unsigned char* data_ = nullptr;
  size_t size_ = 0;
};

namespace detail {

/// Stores the content of a bytes argument, valid as long as `any`, in *out. Returns false if the
/// argument is not bytes.
bool read_bytes(const KernkitAny& any, KernkitByteArray* out);

/// Stores a copy of the bytes, which the host makes, in *result. Throws RuntimeError if no host is
/// in the process.
void set_bytes(KernkitAny* result, const unsigned char* data, size_t size);

template <>
struct Argument<BytesView> : PlainArgument<schema::Type::kBytes, BytesView> {
  static Storage read(const KernkitAny& any, const char* name) {
    KernkitByteArray bytes;
    if (!read_bytes(any, &bytes)) throw_argument_type(name, "bytes", any);
    return BytesView(bytes.data, bytes.size);
  }
};

/// Result of a BytesView, a std::vector<uint8_t>, or another class whose data() returns the address
/// of unsigned characters.
template <class T>
struct Result<T, std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T&>().data()),
                                                        const unsigned char*>>> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    return is_single(returns, n, schema::Type::kBytes);
  }
  static void set(KernkitAny* result, const T& value) {
    set_bytes(result, value.data(), value.size());
  }
};

}  // namespace detail
}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/bytes.h"
#endif
