// SPDX-License-Identifier: Apache-2.0
// Rules on the layout of tensors in memory: strides, byte_offset, alignment, aliasing.
#pragma once

#include "kernkit/testing/contract/variation.h"

namespace kernkit::testing::contract {

/// Returns the variation in which tensor i has these strides [elements], one for each dimension;
/// `how` is an adjective for the layout in messages, such as "transposed". The op must give the
/// same results (May::kGiveSameOrReject) or reject the call with ValueError. Throws only
/// std::bad_alloc.
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

/// Returns the variations of rule Layouts, each with other strides of one tensor. For each
/// dimension: the strides of this and the earlier dimensions are doubled ("non-contiguous"), the
/// stride is negated ("reversed"), and the stride is 0 ("broadcast"); for a dimension of size 1,
/// the stride is 1000, which leaves the tensor contiguous. Then the last two dimensions are in
/// column-major order ("transposed"), if both sizes are at least 2. The op must give the same
/// results (May::kGiveSameOrReject) or reject the call with ValueError. Leaves out empty tensors,
/// and tensors whose elements do not take whole bytes. Throws only std::bad_alloc.
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
      strides[d] = 0;  // an output would have several results at one address
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

/// Calls make(name, {i}) for each tensor i in ascending order if there are several tensors, and
/// then make("every tensor", all indices). `name` is a std::string for messages, such as "x". Does
/// not call `make` for an op without tensors. Throws what `make` throws, and std::bad_alloc.
template <class Make>
void for_one_and_all(const Contract& contract, const Make& make) {
  const std::vector<size_t>& tensors = contract.tensors();
  for (const size_t i : tensors) {
    if (tensors.size() > 1) make(contract.name_of(i), std::vector<size_t>{i});
  }
  if (!tensors.empty()) make(std::string("every tensor"), tensors);
}

/// Returns the variations of rule NullStrides: one tensor, and then every tensor, is passed as a
/// DLTensor* whose strides are NULL, which is row-major in DLPack before 1.2. The op must accept
/// the call and give the same results (May::kGiveSame). Runs the op once with DLTensor* that have
/// strides; returns no variation if the op rejects these with TypeError, as an op that keeps its
/// tensors does. Throws the errors of Call::run().
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
  // An op that keeps its tensors rejects a borrowed DLTensor* with TypeError.
  if (call.run().kind == kind::TypeError) return all;
  for_one_and_all(contract, [&](const std::string& names, const std::vector<size_t>& which) {
    all.push_back({"with strides NULL for " + names, May::kGiveSame, kind::ValueError, which,
                   pointers(which, true)});
  });
  return all;
}

/// Returns the variations of rule ByteOffset: for one tensor, and then for every tensor,
/// byte_offset of the DLTensor is 8, 64 or 256, and data is as many bytes lower, so that the first
/// element, at data + byte_offset (DLPack), keeps its address. The op must accept the call and give
/// the same results (May::kGiveSame). Throws only std::bad_alloc.
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

/// Returns the variations of rule Unaligned: one tensor, and then every tensor, begins 1, 2, 3, 5
/// or 8 elements after a multiple of 256 bytes. The op must give the same results
/// (May::kGiveSameOrReject) or reject the call with ValueError. Throws only std::bad_alloc.
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

/// Returns the variation "with y in the memory of x": tensor i begins `shift` of its own elements
/// after the first element of tensor `with`, before that element if `shift` is negative. Requires
/// that tensor i has less than 1 MiB and that `shift` is in [-8, 8], so that both tensors fit into
/// the memory of tensor `with`. The op must give the same results as with separate memory
/// (May::kGiveSameOrReject) or reject the call with ValueError. Throws only std::bad_alloc.
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

/// Returns variations of sharing() for each pair of tensors that can share memory: both are on the
/// same device, and their elements take whole bytes. If `one_is_written` is true, the schema marks
/// the first tensor of the pair as written; otherwise neither tensor. If `same` is true, both
/// tensors have the same dtype and shape and begin at the same element. Otherwise the first tensor
/// begins one element before the second, one after (if the second has two elements), or, if dtypes
/// or shapes differ, at the same address. Throws only std::bad_alloc.
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
/// Returns the variations of rule PartialOverlap: an output that overlaps an input or another
/// output and is not the same tensor, see sharings(). The op must give the same results as with
/// separate memory or reject the call with ValueError. Throws only std::bad_alloc.
inline Variations partial_overlaps(const Contract& contract, const Target&) {
  return sharings(contract, /*one_is_written=*/true, /*same=*/false);
}
/// Returns the variations of rule InPlace: an output that is the same tensor as an input or another
/// output of the same dtype and shape. The op must give the same results as with separate memory or
/// reject the call with ValueError. Throws only std::bad_alloc.
inline Variations in_place(const Contract& contract, const Target&) {
  return sharings(contract, /*one_is_written=*/true, /*same=*/true);
}
/// Returns the variations of rule SharedInputs: two tensors that the schema does not mark as
/// written are the same tensor, and then overlap, see sharings(). The op must give the same results
/// as with separate memory or reject the call with ValueError. Throws only std::bad_alloc.
inline Variations shared_inputs(const Contract& contract, const Target&) {
  Variations all = sharings(contract, false, true);
  for (Variation& more : sharings(contract, false, false)) all.push_back(std::move(more));
  return all;
}

}  // namespace kernkit::testing::contract
