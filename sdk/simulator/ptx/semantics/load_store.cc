// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Data Movement": ld and st of up to eight elements, or of a register of 128 bits.
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/semantics/wide_accesses.h"
#include "ptx/simd/memory.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace memory_steps;  // NOLINT(build/namespaces): its own steps

struct Load {
  template <class M, class R>
  static constexpr Run run = load_lanes<M, R>;
};
struct Store {
  template <class M, class R>
  static constexpr Run run = store_lanes<std::make_unsigned_t<M>, R>;
};

template <class Form, class M>
Run of_register(uint32_t size) {
  if (size < sizeof(M)) return nullptr;
  if (size == 8) return Form::template run<M, uint64_t>;
  if constexpr (sizeof(M) <= 4) {
    if (size == 4) return Form::template run<M, uint32_t>;
  }
  if constexpr (sizeof(M) <= 2) {
    if (size == 2) return Form::template run<M, uint16_t>;
  }
  return nullptr;
}
template <class Form>
Run of_memory(Type type, uint32_t size) {
  switch (type) {
    case Type::kS8: return of_register<Form, int8_t>(size);
    case Type::kS16: return of_register<Form, int16_t>(size);
    case Type::kS32: return of_register<Form, int32_t>(size);
    default: break;
  }
  switch (size_of(type)) {
    case 1: return of_register<Form, uint8_t>(size);
    case 2: return of_register<Form, uint16_t>(size);
    case 4: return of_register<Form, uint32_t>(size);
    case 8: return of_register<Form, uint64_t>(size);
    default: return nullptr;
  }
}

struct Shape {
  uint32_t size = 0;  // size of each register [bytes]
  Type type = Type::kNone;
};

// Decodes the registers of ld or st: a single register or a vector.
Shape read_registers(Decoder& d, const Operand& operand, bool loads) {
  Operation& operation = d.operation;
  const std::string_view vector = d.one_of({"v2", "v4", "v8"});
  Shape shape;
  shape.type = d.type();
  const size_t count = vector.empty() ? 1 : static_cast<size_t>(vector[1] - '0');
  const std::vector<Operand> single = {operand};
  const std::vector<Operand>& parts = operand.kind == Operand::kVector ? operand.parts : single;
  if (parts.size() != count)
    d.reject("expected " + std::to_string(count) + " registers, found " +
             std::to_string(parts.size()));
  for (const Operand& part : parts) {
    const Type type = d.type_of_register(part);
    if (type != Type::kNone) shape.size = register_size(type);
  }
  if (shape.size == 0) shape.size = register_size(shape.type);
  for (const Operand& part : parts) {
    uint32_t& slot = operation.list[operation.count++];
    if (part.kind == Operand::kNothing && loads) continue;
    const Type type = d.type_of_register(part);
    const Type of_part = type != Type::kNone ? type : shape.type;
    if (register_size(of_part) != shape.size)
      d.reject("vector registers have different sizes; expected one size");
    slot = loads ? d.to(part, of_part) : d.from(part, of_part);
  }
  operation.bytes = static_cast<uint8_t>(count * size_of(shape.type));
  return shape;
}

// Decodes the register of ld or st with .b128. Returns whether the access is atomic.
bool read_wide_register(Decoder& d, size_t i) {
  Operation& operation = d.operation;
  const Type type = d.type();
  const uint32_t lower = d.from(i, type);
  operation.list[0] = lower;
  operation.list[1] = lower + 1;
  operation.count = 2;
  operation.bytes = static_cast<uint8_t>(size_of(type));
  return !d.one_of({"relaxed", "acquire", "release", "volatile"}).empty();
}

}  // namespace

Run load(Decoder& d) {
  d.need_operands_and_policy(2);
  const Space space = d.space();
  const Shape shape = read_registers(d, d.operand(0), true);
  d.address(1, space);
  return of_memory<Load>(shape.type, shape.size);
}

Run store(Decoder& d) {
  d.need_operands_and_policy(2);
  const Space space = d.space();
  const Shape shape = read_registers(d, d.operand(1), false);
  d.address(0, space);
  return of_memory<Store>(shape.type, shape.size);
}

Run load_wide(Decoder& d) {
  d.need_operands_and_policy(2);
  const Space space = d.space();
  const bool is_atomic = read_wide_register(d, 0);
  d.address(1, space);
  return is_atomic ? load_whole : Load::run<uint64_t, uint64_t>;
}

Run store_wide(Decoder& d) {
  d.need_operands_and_policy(2);
  const Space space = d.space();
  const bool is_atomic = read_wide_register(d, 1);
  d.address(0, space);
  return is_atomic ? store_whole : Store::run<uint64_t, uint64_t>;
}

}  // namespace kernkit::simulator::ptx
