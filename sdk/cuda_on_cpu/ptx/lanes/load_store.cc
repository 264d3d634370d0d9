// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Data Movement": ld and st, of up to four or eight numbers.
#include <cstring>
#include <type_traits>

#include "ptx/lanes/access.h"
#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"
#include "ptx/lanes/row.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

// M: in memory; R: in a register, which may be wider.
template <class M, class R>
R load_from(const unsigned char* place) {
  M value;
  std::memcpy(&value, place, sizeof(M));
  return static_cast<R>(
      static_cast<std::conditional_t<std::is_signed_v<M>, int64_t, uint64_t>>(value));
}
template <class M, class R>
void store_at(unsigned char* place, R held) {
  const auto value = static_cast<M>(held);
  std::memcpy(place, &value, sizeof(M));
}
// For each lane that runs.
template <class Step>
void each_of(uint32_t mask, const Step& step) {
  if (mask == Warp::kAll) {
    for (int l = 0; l < 32; ++l) step(l);
    return;
  }
  for (uint32_t left = mask; left != 0; left &= left - 1) step(__builtin_ctz(left));
}
// One behind the other, as in the register, from the first lane on.
template <class M, class R>
bool is_dense(const Warp& warp, const Operation& operation, const Row& row) {
  return sizeof(M) == sizeof(R) && row.stride == sizeof(M) && operation.count == 1 &&
         (warp.mask & (warp.mask + 1)) == 0;
}
size_t dense_bytes(const Warp& warp, size_t size) {
  return size * (warp.mask == Warp::kAll ? 32 : static_cast<size_t>(__builtin_ctz(~warp.mask)));
}

template <class M, class R>
void load_lanes(Warp& warp, const Operation& operation) {
  Row row;
  Places places;
  const bool in_row = find_row(warp, operation, operation.bytes, Touch::kLoads, &row);
  if (!in_row) find_places(warp, operation, operation.bytes, Touch::kLoads, &places);
  for (int k = 0; k < operation.count; ++k) {
    if (operation.list[k] == kNone) continue;
    R* d = warp.lanes<R>(operation.list[k]);
    const size_t skip = sizeof(M) * static_cast<size_t>(k);
    if (!in_row) {
      each_of(warp.mask, [&](int l) { d[l] = load_from<M, R>(places.at[l] + skip); });
    } else if (row.stride == 0) {
      const R value = load_from<M, R>(row.of(0) + skip);
      if (warp.mask == Warp::kAll) {
        each_lane([&](int l) { d[l] = value; });
      } else {
        each_of(warp.mask, [&](int l) { d[l] = value; });
      }
    } else if (is_dense<M, R>(warp, operation, row)) {
      if (warp.mask == Warp::kAll) {
        std::memcpy(d, row.of(0), 32 * sizeof(R));
      } else {
        std::memcpy(d, row.of(0), dense_bytes(warp, sizeof(R)));
      }
    } else {
      each_of(warp.mask, [&](int l) { d[l] = load_from<M, R>(row.of(l) + skip); });
    }
  }
}

template <class M, class R>
void store_lanes(Warp& warp, const Operation& operation) {
  Row row;
  Places places;
  const bool in_row = find_row(warp, operation, operation.bytes, Touch::kStores, &row);
  if (!in_row) find_places(warp, operation, operation.bytes, Touch::kStores, &places);
  for (int k = 0; k < operation.count; ++k) {
    const R* a = warp.lanes<R>(operation.list[k]);
    const size_t skip = sizeof(M) * static_cast<size_t>(k);
    if (!in_row) {
      each_of(warp.mask, [&](int l) { store_at<M>(places.at[l] + skip, a[l]); });
    } else if (is_dense<M, R>(warp, operation, row)) {
      if (warp.mask == Warp::kAll) {
        std::memcpy(row.of(0), a, 32 * sizeof(R));
      } else {
        std::memcpy(row.of(0), a, dense_bytes(warp, sizeof(R)));
      }
    } else {
      each_of(warp.mask, [&](int l) { store_at<M>(row.of(l) + skip, a[l]); });
    }
  }
}

struct Load {
  template <class M, class R>
  static constexpr Run run = load_lanes<M, R>;
};
struct Store {
  template <class M, class R>
  static constexpr Run run = store_lanes<M, R>;
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

// Blocks see each other's memory at once, in the order of their steps: what orders it, or says how
// it is cached, changes nothing.
void ignore_order(Decoder& d) {
  d.ignore({"relaxed", "acquire", "release", "weak", "volatile", "cta",  "cluster",
            "gpu",     "sys",     "mmio",    "nc",   "ca",       "cg",   "cs",
            "cv",      "lu",      "wb",      "wt",   "unified",  "L1::", "L2::"});
}

struct Shape {
  uint32_t size = 0;  // of the registers
  Type type = Type::kNone;
};

// The registers of ld or st: one, or a vector.
Shape read_registers(Decoder& d, const Operand& operand, bool loads) {
  Operation& operation = d.operation;
  const std::string_view vector = d.one_of({"v2", "v4", "v8"});
  Shape shape;
  shape.type = d.type();
  const size_t count = vector.empty() ? 1 : static_cast<size_t>(vector[1] - '0');
  const std::vector<Operand> one = {operand};
  const std::vector<Operand>& parts = operand.kind == Operand::kVector ? operand.parts : one;
  if (parts.size() != count) d.refuse("it needs " + std::to_string(count) + " registers");
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
    if (register_size(of_part) != shape.size) d.refuse("its registers differ in size");
    slot = loads ? d.to(part, of_part) : d.from(part, of_part);
  }
  operation.bytes = static_cast<uint8_t>(count * size_of(shape.type));
  return shape;
}

}  // namespace

Run load(Decoder& d) {
  d.need_operands(2);
  ignore_order(d);
  const Space space = d.space();
  const Shape shape = read_registers(d, d.operand(0), true);
  d.address(1, space);
  return of_memory<Load>(shape.type, shape.size);
}

Run store(Decoder& d) {
  d.need_operands(2);
  ignore_order(d);
  const Space space = d.space();
  const Shape shape = read_registers(d, d.operand(1), false);
  d.address(0, space);
  return of_memory<Store>(shape.type, shape.size);
}

}  // namespace kernkit::cuda_on_cpu::ptx
