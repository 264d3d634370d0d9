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
/// Decodes the operands of an instruction and returns the function that executes the operation;
/// null for an unsupported form.
using Semantics = Run (*)(Decoder& decoder);

/// The kind of memory access of an instruction. kCopy loads and stores.
enum class AccessKind : uint8_t { kNone, kLoad, kStore, kAtomic, kCopy };

/// The rule by which undefined bits of an instruction's sources reach its results.
enum class Definedness : uint8_t {
  kAll,      // Any undefined bit of a source makes every bit of each result undefined.
  kHalves,   // The rule of kAll applies to each half of 16 bits.
  kWords,    // The rule of kAll applies to each half of 32 bits.
  kUpwards,  // Bits from the lowest undefined source bit upwards are undefined: sums, products.
  kEach,     // An undefined bit makes the same bit of the result undefined: xor, not.
  kAnd,      // The rule of kEach applies, except where the other source has a defined 0 bit.
  kOr,       // The rule of kEach applies, except where the other source has a defined 1 bit.
  kTable,    // A result bit is undefined if undefined source bits can change the bit: lop3.
  kMoved,    // Undefined bits move with the data, see Instruction::moved.
  kSelect,   // The result has the undefined bits of the selected source.
  kCompare,  // The result is undefined if undefined source bits can change the result.
  kNarrows,  // The upper half is undefined if any bit of src0 is, the lower half if any of src1 is.
  kWidens,   // An undefined bit in half of the source makes the same half of the result undefined.
  kShuffle,  // The result has the undefined bits of the source in the lane that the shuffle reads.
  kBallot,   // An undefined predicate of a lane makes that lane's bit of the result undefined.
  kVote,     // The result is undefined unless a lane with a defined predicate determines it.
  kWarp,     // An undefined bit in any lane makes every bit of the result undefined.
  kSums,     // The rule of kProduct for wgmma.mma_async, which reads B, and usually A, from memory.
  kProduct,  // An element of D is undefined if its row of A, column of B or element of C is.
  kNone,     // The results are always defined.
  // Rules for accesses to memory.
  kLoad,
  kStore,
  kAtomic,
  kExchange,  // The instruction is an atomic whose new value does not depend on the old value.
  kMatrix,    // The instruction is ldmatrix or stmatrix.
  kFragment,  // The instruction is wmma.load or wmma.store.
  kArrive,    // The instruction is cp.async.mbarrier.arrive.
  kCopy,      // The instruction is cp.async.
  // Rules for the groups of cp.async: cp.async.commit_group, wait_group and wait_all.
  kCommit,
  kWait,
  kWaitAll,
  // The instruction is ret of a device function, which returns its result in local memory.
  kReturn,
};

/// How the result of an instruction can be derived from the address of a variable in its sources.
enum class AddressFlow : uint8_t {
  kNone,
  kFirst,       // first source
  kDifference,  // first source, minus a distance
  kThird,       // third source, plus a product
  kEither,      // either source, plus a distance in the other source
  kSelected,    // first or second source, selected by a predicate
};

/// The effect of an instruction besides its results.
enum class Effect : uint8_t {
  kNone,
  kFence,
  kCall,
  kWaitsForGrids,  // effect of griddepcontrol.wait
  kReleasesGrids,  // effect of griddepcontrol.launch_dependents
  // Effects of asynchronous operations:
  kFencesProxies,    // fence.proxy.async; Operation::mode is a mask of ProxySpaces
  kFencesInits,      // fence.mbarrier_init
  kIssuesCopies,     // bulk copy
  kCommitsCopies,    // cp.async.bulk.commit_group
  kWaitsForCopies,   // cp.async.bulk.wait_group; the mode kOnlyReads is .read
  kFencesProducts,   // wgmma.fence
  kIssuesProducts,   // wgmma.mma_async
  kCommitsProducts,  // wgmma.commit_group
  kWaitsForProducts  // wgmma.wait_group
};

/// The spaces of a fence.proxy.async, as a mask.
enum ProxySpaces : uint8_t { kFencesGlobal = 1, kFencesShared = 2 };
/// Operation::mode of a fence of the tensormap proxy: the effects of the fence on tensor maps in
/// global memory, as a mask. The mode of other fences with Effect::kFence is 0.
enum MapFences : uint8_t {
  kReleasesMaps = 1,  // fence.proxy.tensormap::generic.release
  kAcquiresMap = 2,   // fence.proxy.tensormap::generic.acquire of the map whose address is src0
  kCopiesMap = 16     // tensormap.cp_fenceproxy to the address src0, then a release
};
/// Size of a tensor map [bytes].
inline constexpr uint32_t kTensorMapBytes = 128;
/// The bits of a bulk copy's Operation::mode that hold its reduction; 0 for a copy without
/// reduction, also in the mode of tensormap.cp_fenceproxy.
inline constexpr uint8_t kReductionBits = 15;
/// The mode of a cp.async.bulk.wait_group that waits only until the sources have been read.
inline constexpr uint8_t kOnlyReads = 1;

/// The list in ptx/simd/ that contains the loops for the forms of a row. Each list is compiled
/// twice: for every processor, and for processors with AVX2. If the loop of a form is not in the
/// list, all processors run the same code.
enum class Simd : uint8_t { kNone, kIntegers, kReals, kWarps, kMatrices };

/// Bits of Instruction::moved, which selects the sources whose undefined bits Definedness::kMoved
/// moves.
inline constexpr uint8_t kFirstSource = 1, kSecondSource = 2;

struct Instruction {
  /// `modifiers` lists the items after the mnemonic, separated by spaces: "lo|wide u16|s16". A form
  /// has exactly one modifier of each item, in any order. "?" after an item makes the item
  /// optional. "~" before an item means that the simulator ignores the modifiers of the item.
  /// "%int" refers to a set of modifiers, see find_instruction.cc. "L2::*" matches every modifier
  /// with this prefix.
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
  constexpr Instruction has(Effect effect) const {
    Instruction row = *this;
    row.effect = effect;
    return row;
  }
  /// Sets the memory order and the scope of forms without a modifier for them: `order` is a
  /// modifier such as "release", `scope` a modifier such as "cta".
  constexpr Instruction orders(const char* order, const char* scope) const {
    Instruction row = *this;
    row.default_order = order;
    row.default_scope = scope;
    return row;
  }
  constexpr Instruction simd(Simd list) const {
    Instruction row = *this;
    row.simd_list = list;
    return row;
  }
  /// Sets the CUDA function that compiles to this form.
  constexpr Instruction is(const char* function_of_cuda) const {
    Instruction row = *this;
    row.function = function_of_cuda;
    return row;
  }

  const char* name;       // mnemonic
  const char* modifiers;  // items, see the constructor
  Semantics semantics;
  AccessKind access = AccessKind::kNone;
  Definedness definedness = Definedness::kAll;
  uint8_t moved = 0;  // mask of kFirstSource and kSecondSource, for Definedness::kMoved
  AddressFlow address_flow = AddressFlow::kNone;
  Effect effect = Effect::kNone;
  Simd simd_list = Simd::kNone;
  const char* function = nullptr;
  const char* default_order = nullptr;  // memory order and scope of forms without these modifiers
  const char* default_scope = nullptr;
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

/// The row that matches a form, and the modifiers of the form that the simulator ignores.
struct InstructionMatch {
  const Instruction* row = nullptr;  // null if no row matches
  std::vector<bool> ignored;         // ignored[i]: whether the simulator ignores modifier i
  bool is_known = false;             // whether a row has the mnemonic
  std::string unsupported;           // modifier that no row with the mnemonic has, or ""
};
InstructionMatch find_instruction(std::string_view name, const std::vector<std::string>& modifiers);

}  // namespace kernkit::simulator::ptx
