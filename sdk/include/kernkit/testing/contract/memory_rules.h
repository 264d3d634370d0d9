// SPDX-License-Identifier: Apache-2.0
// Rules on the layout of tensors in memory: strides, byte_offset, alignment, aliasing.
#pragma once

#include "kernkit/testing/contract/variation.h"

namespace kernkit::testing::contract {

/// Returns the variation in which tensor i has these strides [elements]; `how` describes them. The
/// op must give the same results or reject the call with ValueError. Throws only std::bad_alloc.
inline Variation with_layout(const Contract& contract, size_t i, const char* how,
                             const std::vector<int64_t>& strides) {
  return {(Message().stream() << "with " << how << " " << contract.name_of(i).c_str()
                              << " (strides " << ShapeView(strides.data(), strides.size()) << ")")
              .c_str(),
          May::kGiveSameOrReject,
          kind::ValueError,
          {i},
          [=](Call& call) { call.arguments[i].strides = strides; }};
}

/// Returns the variations of rule Layouts: each tensor non-contiguous, reversed, broadcast and
/// transposed. An op that does not accept a layout must reject the call with ValueError, not read
/// the tensor as if it were dense. Throws only std::bad_alloc.
inline Variations layouts(const Contract& contract, Target& target) {
  Variations all;
  const Call call(contract, target);
  for (const size_t i : contract.tensors()) {
    const Argument& x = call.arguments[i];
    if (!is_multiple_of_byte(x.dtype) || x.numel() == 0) continue;
    const std::vector<int64_t> dense = x.row_major();
    const size_t rank = x.shape.size();
    for (size_t d = 0; d < rank; ++d) {
      std::vector<int64_t> strides = dense;
      if (x.shape[d] == 1) {
        strides[d] = 1000;
        all.push_back(with_layout(contract, i, "contiguous", strides));
        continue;
      }
      for (size_t k = 0; k <= d; ++k) strides[k] *= 2;
      all.push_back(with_layout(contract, i, "non-contiguous", strides));
      strides = dense;
      strides[d] = -strides[d];
      all.push_back(with_layout(contract, i, "reversed", strides));
      strides[d] = 0;  // no call can write two values into one element
      all.push_back(with_layout(contract, i, "broadcast", strides));
    }
    if (rank < 2 || x.shape[rank - 1] < 2 || x.shape[rank - 2] < 2) continue;
    std::vector<int64_t> strides = dense;
    strides[rank - 1] = x.shape[rank - 2];
    strides[rank - 2] = 1;
    all.push_back(with_layout(contract, i, "transposed", strides));
  }
  return all;
}

/// Calls make(name, indices) for each tensor if there are several, then for all tensors: "x",
/// "every tensor". Makes no call for an op without tensors. Throws what `make` throws.
template <class Make>
void for_one_and_all(const Contract& contract, const Make& make) {
  const std::vector<size_t>& tensors = contract.tensors();
  for (const size_t i : tensors) {
    if (tensors.size() > 1) make(contract.name_of(i), std::vector<size_t>{i});
  }
  if (!tensors.empty()) make(std::string("every tensor"), tensors);
}

/// Returns the variations of rule NullStrides: tensors without strides, which are row-major in
/// DLPack before 1.2. The op must accept each. None for an op that keeps its tensors, which accepts
/// no borrowed tensors. Runs the op once, and throws the errors of Call::run().
inline Variations null_strides(const Contract& contract, Target& target) {
  Variations all;
  const auto pointers = [](const std::vector<size_t>& which, bool null) {
    return [=](Call& call) {
      for (const size_t i : which) call.arguments[i].as_pointer = true;
      for (const size_t i : which) call.arguments[i].null_strides = null;
    };
  };
  Call call(contract, target);
  pointers(contract.tensors(), false)(call);
  // An op that keeps its tensors does not accept borrowed tensors.
  if (call.run().kind == kind::TypeError) return all;
  for_one_and_all(contract, [&](const std::string& names, const std::vector<size_t>& which) {
    all.push_back({"with strides NULL for " + names, May::kGiveSame, kind::ValueError, which,
                   pointers(which, true)});
  });
  return all;
}

/// Returns the variations of rule ByteOffset: 8, 64 and 256 bytes of the address in byte_offset.
/// The first element is at the same address: the op must accept the call. Throws only
/// std::bad_alloc.
inline Variations byte_offsets(const Contract& contract, const Target&) {
  Variations all;
  for (const int64_t bytes : {8, 64, 256}) {
    for_one_and_all(contract, [&](const std::string& names, const std::vector<size_t>& which) {
      all.push_back(
          {"with " + std::to_string(bytes) + " of its address in byte_offset for " + names,
           May::kGiveSame, kind::ValueError, which, [=](Call& call) {
             for (const size_t i : which) call.arguments[i].byte_offset = bytes;
           }});
    });
  }
  return all;
}

/// Returns the variations of rule Unaligned: tensors that begin 1, 2, 3, 5 and 8 elements after an
/// aligned address. The op must give the same results or reject the call with ValueError. Throws
/// only std::bad_alloc.
inline Variations unaligned(const Contract& contract, const Target&) {
  Variations all;
  for (const int64_t first : {1, 2, 3, 5, 8}) {
    for_one_and_all(contract, [&](const std::string& names, const std::vector<size_t>& which) {
      all.push_back({"with " + names + " " + std::to_string(first) +
                         (first == 1 ? " element" : " elements") + " after an aligned address",
                     May::kGiveSameOrReject, kind::ValueError, which, [=](Call& call) {
                       for (const size_t i : which) call.arguments[i].first = first;
                     }});
    });
  }
  return all;
}

/// Returns the variation in which tensor i uses the memory of tensor `with`, `shift` elements from
/// its first: "with y in the memory of x". The op must give the same results or reject the call
/// with ValueError. Throws only std::bad_alloc.
inline Variation sharing(const Contract& contract, size_t i, size_t with, int64_t shift) {
  std::string offset = shift == 0 ? "" : ", " + std::to_string(shift) + " elements from its first";
  return {"with " + contract.name_of(i) + " in the memory of " + contract.name_of(with) + offset,
          May::kGiveSameOrReject,
          kind::ValueError,
          {i, with},
          [=](Call& call) {
            call.arguments[i].shares = static_cast<int>(with);
            call.arguments[i].shift = shift;
          }};
}

/// Returns a variation for each pair of tensors that can share memory. If `one_is_written`, the op
/// writes at least one tensor of the pair, otherwise the op writes neither. If `same`, both
/// arguments are the same tensor, otherwise the first tensor begins up to one element before or
/// after the second. Throws only std::bad_alloc.
inline Variations sharings(const Contract& contract, bool one_is_written, bool same) {
  Variations all;
  const auto& examples = contract.examples();
  for (const size_t i : contract.tensors()) {
    for (const size_t k : contract.tensors()) {
      const bool written = contract.is_written(i), other_is_written = contract.is_written(k);
      if (i == k || (written == other_is_written && i > k) || (other_is_written && !written))
        continue;
      if ((written || other_is_written) != one_is_written) continue;
      if (examples[i].stays_on_cpu() != examples[k].stays_on_cpu()) continue;
      const bool alike = examples[i].dtype() == examples[k].dtype();
      const bool equal = alike && examples[i].shape() == examples[k].shape();
      if (!is_multiple_of_byte(examples[i].dtype()) || !is_multiple_of_byte(examples[k].dtype()))
        continue;
      if (same && equal) all.push_back(sharing(contract, i, k, 0));
      if (same) continue;
      for (const int64_t shift : {-1, 0, 1}) {
        const bool past_last = shift > 0 && Call(contract, cpu_target()).arguments[k].numel() < 2;
        if ((shift != 0 || !equal) && !past_last) {
          all.push_back(sharing(contract, i, k, shift));
        }
      }
    }
  }
  return all;
}
/// Returns the variations of rule PartialOverlap: an output that overlaps another tensor without
/// being the same. The op must give the same results or reject the call with ValueError. Throws
/// only std::bad_alloc.
inline Variations partial_overlaps(const Contract& contract, const Target&) {
  return sharings(contract, /*one_is_written=*/true, /*same=*/false);
}
/// Returns the variations of rule InPlace: an output that is one of the inputs. The op must give
/// the same results or reject the call with ValueError. Throws only std::bad_alloc.
inline Variations in_place(const Contract& contract, const Target&) {
  return sharings(contract, /*one_is_written=*/true, /*same=*/true);
}
/// Returns the variations of rule SharedInputs: pairs of tensors that are only read, in the same or
/// in overlapping memory. The op must give the same results or reject the call with ValueError.
/// Throws only std::bad_alloc.
inline Variations shared_inputs(const Contract& contract, const Target&) {
  Variations all = sharings(contract, false, true);
  for (Variation& more : sharings(contract, false, false)) all.push_back(std::move(more));
  return all;
}

}  // namespace kernkit::testing::contract
