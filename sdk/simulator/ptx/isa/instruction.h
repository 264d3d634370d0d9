// SPDX-License-Identifier: Apache-2.0
// Instruction: a row of the instruction table, which holds everything about a form of a PTX
// instruction except the values that the form computes. The decoder accepts a form only if a row
// matches; the tools, the messages about faults and the list of tested forms read the row's fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernkit::simulator::ptx {

class Decoder;
struct Operation;
struct Warp;

/// Executes an operation for the lanes of the warp's mask.
using Run = void (*)(Warp& warp, const Operation& operation);
/// Decodes the operands of an instruction and returns what executes the operation; null for a form
/// that is unsupported.
using Semantics = Run (*)(Decoder& decoder);

/// What an instruction does to memory. kCopy loads and stores.
enum class AccessKind : uint8_t { kNone, kLoad, kStore, kAtomic, kCopy };

/// How undefined bits of the sources of an instruction reach its results.
enum class Definedness : uint8_t {
  kAll,      // any undefined bit of a source makes every bit of each result undefined
  kHalves,   // like kAll, within each half of 16 bits
  kUpwards,  // from the lowest undefined bit on: sums and products
  kEach,     // bit by bit: xor, not
  kAnd,      // bit by bit, except where the other source is zero
  kOr,       // bit by bit, except where the other source is one
  kTable,    // lop3
  kMoved,    // as the instruction moves the bits of its data
  kSelect,   // those of the source that the predicate selects
  kCompare,  // undefined where the undefined bits can change the result
  kNarrows,  // each source: a half of the result
  kWidens,   // each half of the source: a half of the result
  kShuffle,  // those of the lane that is read
  kBallot,   // the predicate of each lane: a bit
  kVote,     // undefined unless a lane with a defined predicate decides the result
  kWarp,     // any undefined bit of any lane makes every bit undefined
  kProduct,  // those of a row and a column
  kNone,     // the results are defined
  // Accesses to memory.
  kLoad,
  kStore,
  kAtomic,
  kExchange,  // an atomic whose new value does not depend on the old value
  kMatrix,    // ldmatrix, stmatrix
  kFragment,  // wmma.load, wmma.store
  kCopy,      // cp.async
  // Other effects on memory.
  kCommit,
  kWait,
  kWaitAll,
  kReturn,  // a function of the device returns its result in local memory
};

/// From which sources the result of an instruction can take the address of a variable.
enum class AddressFlow : uint8_t {
  kNone,
  kFirst,       // the first source
  kDifference,  // the first source, less a distance
  kThird,       // the third source, plus a product
  kEither,      // one source, plus a distance in the other
  kSelected,    // the first or the second source
};

/// What an instruction does besides computing its results.
enum class Effect : uint8_t {
  kNone,
  kFence,
  kCall,
  kWaitsForGrids,  // griddepcontrol.wait
  kReleasesGrids,  // griddepcontrol.launch_dependents
};

/// Sources whose bits Definedness::kMoved moves.
inline constexpr uint8_t kFirstSource = 1, kSecondSource = 2;

struct Instruction {
  /// `modifiers` lists what follows the mnemonic, separated by spaces: "lo|wide u16|s16". A form
  /// has exactly one modifier of each item, in any order. "?" after an item makes the item
  /// optional,
  /// "~" before an item declares that the simulator need not act on its modifiers, "%int" names a
  /// set of modifiers (see instructions.cc), and "L2::*" is every modifier that begins so.
  constexpr Instruction(const char* name, const char* modifiers, Semantics semantics)
      : name(name), modifiers(modifiers), semantics(semantics) {}

  constexpr Instruction accesses(AccessKind kind, Definedness rule) const {
    Instruction row = *this;
    row.access = kind;
    row.definedness = rule;
    return row;
  }
  constexpr Instruction defines(Definedness rule) const {
    Instruction row = *this;
    row.definedness = rule;
    return row;
  }
  constexpr Instruction moves(uint8_t sources) const {
    Instruction row = defines(Definedness::kMoved);
    row.moved = sources;
    return row;
  }
  constexpr Instruction flows(AddressFlow flow) const {
    Instruction row = *this;
    row.address_flow = flow;
    return row;
  }
  constexpr Instruction has(Effect what) const {
    Instruction row = *this;
    row.effect = what;
    return row;
  }
  /// The function of CUDA that compiles to this form.
  constexpr Instruction is(const char* function_of_cuda) const {
    Instruction row = *this;
    row.function = function_of_cuda;
    return row;
  }

  const char* name;       // the mnemonic
  const char* modifiers;  // see above
  Semantics semantics;
  AccessKind access = AccessKind::kNone;
  Definedness definedness = Definedness::kAll;
  uint8_t moved = 0;  // of kMoved: kFirstSource, kSecondSource
  AddressFlow address_flow = AddressFlow::kNone;
  Effect effect = Effect::kNone;
  const char* function = nullptr;
};

/// The rows of one section of the PTX ISA, chapter "Instruction Set".
struct Section {
  const Instruction* rows;
  size_t count;
};
struct Sections {
  const Section* begin;
  const Section* end;
};
Sections sections();

/// The row that matches a form, and which of the modifiers the simulator need not act on.
struct FoundInstruction {
  const Instruction* row = nullptr;  // null: no row matches
  std::vector<bool> ignored;         // one for each modifier
  bool is_known = false;             // whether a row has the mnemonic
  std::string unsupported;           // a modifier that no row with the mnemonic has; "" for none
};
FoundInstruction find_instruction(std::string_view name, const std::vector<std::string>& modifiers);

}  // namespace kernkit::simulator::ptx
