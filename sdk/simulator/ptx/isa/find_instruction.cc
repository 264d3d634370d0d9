// SPDX-License-Identifier: Apache-2.0
// Finds the row of the instruction table that matches a form.
#include <array>
#include <iterator>
#include <utility>

#include "ptx/isa/instruction.h"

namespace kernkit::simulator::ptx {
namespace {

// The sets of modifiers that rows refer to, such as "%int".
constexpr std::pair<std::string_view, std::string_view> kSets[] = {
    {"int", "u16|s16|u32|s32|u64|s64"},
    {"signed", "s16|s32|s64"},
    {"bits", "b16|b32|b64"},
    {"any",
     "b8|u8|s8|b16|u16|s16|f16|bf16|b32|u32|s32|f32|f16x2|bf16x2|e4m3x2|e5m2x2|b64|u64|s64|f64"},
    {"rounding", "rn|rz|rm|rp"},
    {"order", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
    {"order_real", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"logic", "and|or|xor"},
    {"scope", "cta|cluster|gpu|sys"},
    {"space", "global|const|shared|shared::cta|shared::cluster|local|param"},
    {"shared", "shared|shared::cta|shared::cluster"},
    {"cache", "L1::*|L2::*"},
    {"atomic_order", "relaxed|acquire|release|acq_rel"},
    {"dimensions", "1d|2d|3d|4d|5d"},
    {"reduction", "add|min|max|inc|dec|and|or|xor"},
    {"async_type", "b32|u32|s32|f32|b64|u64|s64|f64"},
    {"map_element", "box_dim|global_dim|element_stride"},
    {"map_value", "rank|elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_mode"},
    {"set_result", "u16|s16|u32|s32|f16|bf16|f32|f16x2|bf16x2"},
    {"mma_shape", "m8n8k4|m8n8k16|m8n8k32|m16n8k4|m16n8k8|m16n8k16|m16n8k32|m16n8k64"},
    {"mma_shape_f64", "m8n8k4|m16n8k4|m16n8k8|m16n8k16"},
    {"mma_shape_b1", "m8n8k128|m16n8k128|m16n8k256"},
    {"wmma_shape", "m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4|m8n8k32|m8n8k128"},
    {"wgmma_shape", "m64n*"},
    {"factor", "f16|bf16|tf32|f64|e4m3|e5m2|s8|u8|s4|u4|b1"},
    {"sum", "f16|f32|s32|f64"},
};

// Removes the start of a text up to and including the first separator. Returns the removed text
// without the separator.
std::string_view take_until(std::string_view* text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

// Returns whether alternatives such as "lo|%int|L2::*" match a modifier.
bool have(std::string_view alternatives, std::string_view modifier) {
  while (!alternatives.empty()) {
    std::string_view alternative = take_until(&alternatives, '|');
    if (alternative == modifier) return true;
    if (alternative[0] == '%') {
      for (const auto& [name, set] : kSets) {
        if (name == alternative.substr(1) && have(set, modifier)) return true;
      }
    } else if (alternative.back() == '*') {
      alternative.remove_suffix(1);
      if (modifier.substr(0, alternative.size()) == alternative) return true;
    }
  }
  return false;
}

struct Item {
  std::string_view alternatives;
  bool is_optional, is_ignored;
  bool is_taken = false;
};

constexpr size_t kMostItems = 16;

// Reads the items of a row of the instruction table, such as "~cta? sync", into `items`. Returns
// the number of items.
size_t read_items(std::string_view text, Item* items) {
  size_t count = 0;
  while (!text.empty()) {
    std::string_view token = take_until(&text, ' ');
    Item& item = items[count++];
    item = {};
    item.is_ignored = token[0] == '~';
    if (item.is_ignored) token.remove_prefix(1);
    item.is_optional = token.back() == '?';
    if (item.is_optional) token.remove_suffix(1);
    item.alternatives = token;
  }
  return count;
}

// Assigns modifiers[i] and all later modifiers to different items. Returns false if that is
// impossible, or if an item that is not optional has no modifier.
bool assign(const std::vector<std::string>& modifiers, size_t i, Item* items, size_t count,
            std::vector<bool>* ignored) {
  if (i == modifiers.size()) {
    for (size_t k = 0; k < count; ++k) {
      if (!items[k].is_taken && !items[k].is_optional) return false;
    }
    return true;
  }
  for (size_t k = 0; k < count; ++k) {
    Item& item = items[k];
    if (item.is_taken || !have(item.alternatives, modifiers[i])) continue;
    item.is_taken = true;
    (*ignored)[i] = item.is_ignored;
    if (assign(modifiers, i + 1, items, count, ignored)) return true;
    item.is_taken = false;
  }
  return false;
}

// Lists of the rows of the instruction table, by a hash of the mnemonic. The rows of a list are in
// the table's order.
class RowLists {
 public:
  RowLists() {
    first_.fill(nullptr);
    const Sections all = sections();
    size_t count = 0;
    for (const Section* section = all.begin; section != all.end; ++section) count += section->count;
    entries_.reserve(count);  // the entries must not move: lists contain their addresses
    for (const Section* section = all.end; section-- != all.begin;) {
      for (size_t r = section->count; r-- != 0;) {
        const Entry*& first = first_[hash(section->rows[r].name)];
        entries_.push_back({section->rows[r].name, &section->rows[r], first});
        first = &entries_.back();
      }
    }
  }

  struct Entry {
    std::string_view name;
    const Instruction* row;
    const Entry* next;  // next entry of the list, or null
  };
  /// Returns the list with the rows of a mnemonic; the list may also contain rows of other
  /// mnemonics.
  const Entry* list_of(std::string_view name) const { return first_[hash(name)]; }

 private:
  static constexpr size_t kLists = 128;
  static size_t hash(std::string_view name) {
    const auto byte = [&](size_t i) { return static_cast<size_t>(name[i]); };
    return name.empty() ? 0 : (byte(0) * 5 + byte(name.size() - 1) * 3 + name.size() * 17) % kLists;
  }
  std::vector<Entry> entries_;
  std::array<const Entry*, kLists> first_;
};

}  // namespace

InstructionMatch find_instruction(std::string_view name,
                                  const std::vector<std::string>& modifiers) {
  InstructionMatch result;
  std::vector<bool> ignored(modifiers.size()), is_known(modifiers.size());
  // Never destroyed: a thread may decode a kernel while the process ends.
  static const RowLists& lists = *new RowLists;
  for (const RowLists::Entry* entry = lists.list_of(name); entry != nullptr; entry = entry->next) {
    if (name != entry->name) continue;
    result.is_known = true;
    Item items[kMostItems];
    const size_t count = read_items(entry->row->modifiers, items);
    if (assign(modifiers, 0, items, count, &ignored)) {
      result.row = entry->row;
      result.ignored = std::move(ignored);
      return result;
    }
    for (size_t i = 0; i < modifiers.size(); ++i) {
      for (size_t k = 0; k < count; ++k) {
        if (have(items[k].alternatives, modifiers[i])) is_known[i] = true;
      }
    }
  }
  for (size_t i = 0; i < modifiers.size() && result.unsupported.empty(); ++i) {
    if (!is_known[i]) result.unsupported = modifiers[i];
  }
  return result;
}

}  // namespace kernkit::simulator::ptx
