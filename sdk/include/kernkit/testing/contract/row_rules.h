// SPDX-License-Identifier: Apache-2.0
// The rule of ops that work row by row: by_row().
#pragma once

#include "kernkit/testing/contract/rule.h"

namespace kernkit::testing::contract {

/// Returns "" or the first result whose bytes differ from row `row`, counted from 0, of the result
/// of `batch`, which has `rows` rows: "y has other bits in row 2". With rows = 1, compares whole
/// results. Both calls have run. `rows` is at least 1. Throws only std::bad_alloc.
inline std::string other_bits(const Call& single, const Call& batch, int64_t row, int64_t rows) {
  for (size_t k = 0; k < batch.results().size(); ++k) {
    const std::vector<unsigned char>& batch_bytes = batch.results()[k].elements.bytes;
    const std::vector<unsigned char>& row_bytes = single.results()[k].elements.bytes;
    const size_t begin = batch_bytes.size() / static_cast<size_t>(rows) * static_cast<size_t>(row);
    const bool same = begin + row_bytes.size() <= batch_bytes.size() &&
                      std::equal(row_bytes.begin(), row_bytes.end(),
                                 batch_bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    if (!same) {
      return batch.results()[k].name + " has other bits" +
             (rows == 1 ? "" : " in row " + std::to_string(row));
    }
  }
  return "";
}

/// Reduces the tensors that have as many rows as the first output, `rows`, to row `row`, counted
/// from 0. The contents of these tensors are set, as Call::plain() sets them. `row` is less than
/// `rows`. Throws only std::bad_alloc.
inline void leave_row(Call* call, int64_t row, int64_t rows) {
  for (Argument& argument : call->arguments) {
    if (!argument.is_tensor || argument.shape.empty() || argument.shape[0] != rows) continue;
    std::vector<unsigned char>& bytes = argument.contents->bytes;
    const auto size = static_cast<std::ptrdiff_t>(bytes.size() / static_cast<size_t>(rows));
    const auto begin = bytes.begin() + row * size;
    bytes = std::vector<unsigned char>(begin, begin + size);
    argument.shape[0] = 1;
  }
}

/// Rule RowAlone: computes each row alone, and all rows again in other runs, on CUDA with another
/// order of threads, and compares the bits with those of the batch. Adds each call, and its
/// violation if there is one, to *verdict. Throws the errors of Call::run().
inline void depends_on_the_row_alone(const Contract& contract, Verdict* verdict) {
  if (!contract.works_by_row()) return;
  for (const MakeTarget make_target : targets_of(contract)) {
    const std::unique_ptr<Target> target = make_target();
    Call batch(contract, *target);
    int64_t rows = 0;
    for (const Argument& argument : batch.arguments) {
      if (rows == 0 && argument.is_written && !argument.shape.empty()) rows = argument.shape[0];
    }
    (void)batch.run();
    for (int64_t row = -2; row < rows; ++row) {  // -2 and -1: all rows in one call
      target->reorder(static_cast<unsigned>(row + 3));
      Call other = Call::plain(batch, *target);
      if (row >= 0) leave_row(&other, row, rows);
      const Outcome outcome = other.run();
      const std::string differs = !outcome.accepted
                                      ? "row " + std::to_string(row) + " alone: " + outcome.text()
                                  : row < 0 ? other_bits(other, batch, 0, 1)
                                            : other_bits(other, batch, row, rows);
      verdict->add(differs.empty()
                       ? ""
                       : contract.callee().name() + "()" + target->suffix() + ": " + differs +
                             (row < 0 ? " in another run" : " alone") +
                             "; expected the bits that it has among all " + std::to_string(rows));
    }
  }
}

}  // namespace kernkit::testing::contract
