// SPDX-License-Identifier: Apache-2.0
// Which rule an operation has, by its instruction.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "ptx/semantics/matrix.h"
#include "tools/definedness.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint8_t kA = 1, kB = 2;

class Opcode {
 public:
  explicit Opcode(const std::string& text) {
    for (size_t at = 0; at <= text.size();) {
      const size_t dot = std::min(text.find('.', at), text.size());
      words_.push_back(text.substr(at, dot - at));
      at = dot + 1;
    }
  }
  const std::string& name() const { return words_[0]; }
  bool has(std::string_view word) const {
    for (const std::string& one : words_) {
      if (one == word) return true;
    }
    return false;
  }
  bool has_any(std::initializer_list<std::string_view> words) const {
    for (const std::string_view word : words) {
      if (has(word)) return true;
    }
    return false;
  }
  bool is(std::initializer_list<std::string_view> names) const {
    for (const std::string_view one : names) {
      if (one == name()) return true;
    }
    return false;
  }
  const std::string& last() const { return words_.back(); }
  /// Whether a type, by its place from the end, is that of an integer.
  bool is_integer(size_t from_end) const {
    if (words_.size() <= from_end) return false;
    const std::string& word = words_[words_.size() - 1 - from_end];
    return word.size() >= 2 && (word[0] == 'u' || word[0] == 's' || word[0] == 'b') &&
           word[1] >= '0' && word[1] <= '9';
  }

 private:
  std::vector<std::string> words_;
};

Order order_of(const Opcode& opcode) {
  static constexpr std::pair<const char*, Order> kKnown[] = {
      {"eq", Order::kEqual},       {"ne", Order::kEqual},     {"lt", Order::kLess},
      {"lo", Order::kLess},        {"le", Order::kLessEqual}, {"ls", Order::kLessEqual},
      {"gt", Order::kGreater},     {"hi", Order::kGreater},   {"ge", Order::kGreaterEqual},
      {"hs", Order::kGreaterEqual}};
  for (const auto& [name, order] : kKnown) {
    if (opcode.has(name)) return order;
  }
  return Order::kNone;
}

BitRule of_values(const Opcode& o, BitPlan* plan) {
  const auto moves = [&](uint8_t data) {
    plan->data = data;
    return BitRule::kMoved;
  };
  const std::string& name = o.name();
  if (name == "mov") return moves(kA);
  if (o.is({"not", "xor", "cvta"})) return BitRule::kEach;
  if (name == "and") return BitRule::kAnd;
  if (name == "or") return BitRule::kOr;
  if (name == "lop3") return BitRule::kTable;
  if (o.is({"shl", "shr", "bfe", "brev"})) return moves(kA);
  if (o.is({"shf", "bfi", "prmt"})) return moves(kA | kB);
  if (name == "selp") return BitRule::kSelect;
  if (o.is({"set", "setp"})) {
    if (o.is_integer(0)) plan->order = order_of(o);
    plan->is_signed = o.last()[0] == 's';
    return BitRule::kCompare;
  }
  if (name == "cvt") {
    if (o.has_any({"e4m3x2", "e5m2x2"}) && o.last() != "f32") return BitRule::kWidens;
    if (o.has_any({"f16x2", "bf16x2", "e4m3x2", "e5m2x2"})) return BitRule::kNarrows;
    return o.is_integer(0) && o.is_integer(1) && !o.has("sat") ? moves(kA) : BitRule::kAll;
  }
  if (o.is({"vote"})) return o.has("ballot") ? BitRule::kBallot : BitRule::kVote;
  if (o.is({"match", "redux"})) return BitRule::kWarp;
  if (name == "shfl") return BitRule::kShuffle;
  if (name == "mma" || (name == "wmma" && o.has("mma"))) return BitRule::kProduct;
  if (o.has_any({"f16x2", "bf16x2"})) return BitRule::kHalves;
  const bool wraps = o.is_integer(0) && !o.has_any({"hi", "sat", "cc"});
  if (wraps && o.is({"add", "sub", "mul", "mad", "neg"})) return BitRule::kUpwards;
  return BitRule::kAll;
}

BitRule of_memory(const Opcode& o, BitPlan* plan) {
  const std::string& name = o.name();
  plan->stores = o.is({"st", "stmatrix"}) || o.has("store");
  plan->transposes = o.has("trans");
  plan->is_signed = o.has_any({"s8", "s16", "s32"});
  if (o.is({"ld", "ldu"})) return BitRule::kLoad;
  if (name == "st") return BitRule::kStore;
  if (o.is({"ldmatrix", "stmatrix"})) return BitRule::kMatrix;
  if (name == "wmma" && o.has_any({"load", "store"})) return BitRule::kFragment;
  if (o.is({"atom", "red"})) {
    plan->exchanges = o.has("exch");
    return BitRule::kAtomic;
  }
  if (name == "call") return BitRule::kReturn;
  if (name != "cp") return BitRule::kNone;
  return o.has("commit_group") ? BitRule::kCommit
         : o.has("wait_group") ? BitRule::kWait
         : o.has("wait_all")   ? BitRule::kWaitAll
                               : BitRule::kCopy;
}

void add(std::vector<uint32_t>* to, std::initializer_list<uint32_t> registers) {
  for (const uint32_t one : registers) {
    if (one != kNone) to->push_back(one);
  }
}

BitPlan plan_of(const Kernel& kernel, const Operation& operation) {
  const Opcode o(kernel.origins[operation.number].opcode);
  BitPlan plan;
  plan.rule = of_memory(o, &plan);
  if (plan.rule <= BitRule::kCopy && plan.rule >= BitRule::kLoad && operation.bytes == 0) {
    plan.rule = BitRule::kNone;  // it adds the frame's address for the next one
    add(&plan.results, {operation.to});
    return plan;
  }
  add(&plan.where, {operation.address, operation.members});
  const auto list = [&](std::vector<uint32_t>* to) {
    for (const uint32_t one : operation.list) add(to, {one});
  };
  switch (plan.rule) {
    case BitRule::kNone: break;
    case BitRule::kFragment: add(&plan.where, {operation.a}); [[fallthrough]];
    case BitRule::kLoad:
    case BitRule::kStore:
    case BitRule::kMatrix: list(plan.stores ? &plan.sources : &plan.results); return plan;
    case BitRule::kCopy: add(&plan.where, {operation.a, operation.b}); return plan;
    case BitRule::kAtomic:
      add(&plan.sources, {operation.b, operation.c});
      add(&plan.results, {operation.to});
      return plan;
    default: return plan;
  }
  plan.rule = of_values(o, &plan);
  add(&plan.results, {operation.to, operation.to_predicate});
  add(&plan.sources, {operation.a, operation.b, operation.c, operation.e});
  if (operation.more != kNone) {
    const std::vector<uint32_t>& all = kernel.lists[operation.more];
    const uint32_t of_c = Product::of(operation.offset).registers_of_c();
    for (size_t i = 0; i < all.size(); ++i) add(i < of_c ? &plan.results : &plan.sources, {all[i]});
  } else if (operation.count != 0) {  // mov, whose vector has the other side
    list(operation.to != kNone ? &plan.sources : &plan.results);
  }
  if (plan.sources.empty()) plan.rule = BitRule::kNone;
  return plan;
}

}  // namespace

std::vector<BitPlan> plans_of(const Kernel& kernel) {
  std::vector<BitPlan> plans;
  plans.reserve(kernel.code.size());
  for (const Operation& operation : kernel.code) plans.push_back(plan_of(kernel, operation));
  return plans;
}

}  // namespace kernkit::simulator::ptx
