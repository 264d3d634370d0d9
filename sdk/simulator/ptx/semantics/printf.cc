// SPDX-License-Identifier: Apache-2.0
#include "ptx/semantics/printf.h"

#include <atomic>
#include <cstdio>
#include <cstring>

#include "ptx/machine/access.h"

namespace kernkit::simulator::ptx {
namespace {

std::atomic<bool> buffer_has_text{false};

template <class T>
T load(Warp& warp, int lane, const Operation& operation, uint64_t address) {
  T value;
  std::memcpy(&value, find_pointer(warp, lane, operation, address, sizeof(T), Touch::kLoads),
              sizeof(T));
  return value;
}

template <class T>
std::string printed(const std::string& format, T value) {
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  if (size < 0) return "";
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

}  // namespace

std::string text_at(Warp& warp, int lane, const Operation& operation, uint64_t address) {
  std::string text;
  while (const char c = load<char>(warp, lane, operation, address++)) text += c;
  return text;
}

Printed formatted(Warp& warp, int lane, const Operation& operation, const std::string& format,
                  uint64_t arguments) {
  Printed result;
  std::string& text = result.text;
  uint64_t at = arguments;
  const auto take = [&](auto zero) {
    using T = decltype(zero);
    at = (at + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const T value = load<T>(warp, lane, operation, at);
    at += sizeof(T);
    ++result.arguments;
    return value;
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    if (format.compare(i, 2, "%%") == 0) {
      text += '%';
      ++i;
      continue;
    }
    const size_t end = format.find_first_of("diouxXcsfFeEgGaAp", i);
    if (end == std::string::npos) {
      text += format.substr(i);
      break;
    }
    std::string directive = format.substr(i, end - i + 1);
    for (size_t star; (star = directive.find('*')) != std::string::npos;) {
      directive.replace(star, 1, std::to_string(take(int32_t{})));
    }
    const char kind = format[end];
    const bool is_long = directive.find_first_of("ljzt") != std::string::npos;
    if (kind == 's') {
      text += printed(directive, text_at(warp, lane, operation, take(uint64_t{})).c_str());
    } else if (kind == 'p') {
      text += printed("%p", reinterpret_cast<void*>(take(uint64_t{})));
    } else if (std::strchr("fFeEgGaA", kind) != nullptr) {
      text += printed(directive, take(double{}));
    } else {
      text += is_long ? printed(directive, take(uint64_t{})) : printed(directive, take(uint32_t{}));
    }
    i = end;
  }
  return result;
}

void print_text(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  buffer_has_text = true;
}

void flush_printed() {
  if (buffer_has_text.exchange(false)) std::fflush(stdout);
}

}  // namespace kernkit::simulator::ptx
