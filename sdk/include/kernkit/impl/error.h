// SPDX-License-Identifier: Apache-2.0
// Storage of an Error's text, and throwing by the macros.
#pragma once

#include "kernkit/error.h"

namespace kernkit {

KERNKIT_COLD Error::Error(const char* error_kind, const char* text, SourceLocation location)
    : location_(location) {
  const size_t kind_size = strlen(error_kind);
  const size_t text_size = strlen(text);
  // One allocation: the Block, "Kind\0", "Kind: text\0".
  block_ = static_cast<Block*>(malloc(sizeof(Block) + 2 * kind_size + text_size + 4));
  if (block_ == nullptr) return;
  block_->count = 1;
  block_->kind_size = kind_size;
  char* out = reinterpret_cast<char*>(block_ + 1);
  memcpy(out, error_kind, kind_size + 1);
  memcpy(out + kind_size + 1, error_kind, kind_size);
  memcpy(out + 2 * kind_size + 1, ": ", 2);
  memcpy(out + 2 * kind_size + 3, text, text_size + 1);
}

KERNKIT_COLD Error::Error(const char* error_kind, Message* text, SourceLocation location)
    : Error(error_kind, text->c_str(), location) {
  delete text;
}

KERNKIT_COLD Error::Error(const Error& other) noexcept
    : std::exception(other), block_(other.block_), location_(other.location_) {
  retain();
}

KERNKIT_COLD Error& Error::operator=(const Error& other) noexcept {
  other.retain();
  release();
  block_ = other.block_;
  location_ = other.location_;
  return *this;
}

KERNKIT_COLD Error::~Error() { release(); }

KERNKIT_COLD const char* Error::kind() const noexcept { return text_at(0, kind::MemoryError); }

KERNKIT_COLD const char* Error::message() const noexcept {
  return block_ == nullptr ? "out of memory" : text_at(2 * block_->kind_size + 3, "");
}

KERNKIT_COLD const char* Error::what() const noexcept {
  return block_ == nullptr ? "MemoryError: out of memory" : text_at(block_->kind_size + 1, "");
}

KERNKIT_COLD const char* Error::text_at(size_t offset, const char* otherwise) const noexcept {
  return block_ == nullptr ? otherwise : reinterpret_cast<const char*>(block_ + 1) + offset;
}

KERNKIT_COLD void Error::retain() const noexcept {
  if (block_ != nullptr) __atomic_add_fetch(&block_->count, 1, __ATOMIC_RELAXED);
}

KERNKIT_COLD void Error::release() const noexcept {
  if (block_ != nullptr && __atomic_sub_fetch(&block_->count, 1, __ATOMIC_ACQ_REL) == 0) {
    free(block_);
  }
}

KERNKIT_COLD void detail::Thrower::operator&(Message& message) const {
  message.trim();
  throw Error(kind_, message.empty() ? otherwise_ : message.c_str(), location_);
}

KERNKIT_COLD void detail::throw_out_of_shape(size_t i, size_t size) {
  KERNKIT_THROW(IndexError) << "index " << i << " is out of range for a shape of size " << size;
}

}  // namespace kernkit
