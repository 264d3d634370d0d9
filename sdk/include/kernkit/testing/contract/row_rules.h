// SPDX-License-Identifier: Apache-2.0
// The rule of ops that work row by row: by_row().
#pragma once

#include "kernkit/testing/contract/rule.h"

namespace kernkit::testing::contract {

/// Compares each result of `single` with row `row`, counted from 0, of the same result of `batch`.
/// Returns "", or a clause: "y has other bits in row 2" for the first result that differs in a byte
/// or in size, or a clause that the numbers of results differ. Requires that both calls have run,
/// that each result of `batch` has `rows` rows of whole bytes, and that 0 <= row < rows. With rows
/// = 1 and row = 0, compares whole results. Throws only std::bad_alloc.
inline std::string other_bits(const Call& single, const Call& batch, int64_t row, int64_t rows) {
  if (single.results().size() != batch.results().size()) {
    return "it gives another number of results";
  }
  for (size_t k = 0; k < batch.results().size(); ++k) {
    const std::vector<unsigned char>& batch_bytes = batch.results()[k].elements.bytes;
    const std::vector<unsigned char>& row_bytes = single.results()[k].elements.bytes;
    const size_t size = batch_bytes.size() / static_cast<size_t>(rows);
    const bool same = row_bytes.size() == size &&
                      std::equal(row_bytes.begin(), row_bytes.end(),
                                 batch_bytes.begin() + static_cast<std::ptrdiff_t>(size) * row);
    if (!same) {
      return batch.results()[k].name + " has other bits" +
             (rows == 1 ? "" : " in row " + std::to_string(row));
    }
  }
  return "";
}

/// Reduces each tensor of `call` whose first dimension has `rows` elements to index `row`, counted
/// from 0, of that dimension: the size becomes 1, and Argument::contents keeps the bytes of that
/// row. Requires a call made by Call::plain(), which sets the contents, rows of whole bytes, and 0
/// <= row < rows. Throws only std::bad_alloc.
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

/// Rule RowAlone, for ops with by_row(), on each target: runs the example, then all rows twice
/// more, then every row by a separate call, and compares the bits of the results with the results
/// of the first run. Rows are counted in the first argument with a dimension that the schema marks
/// as written; without such an argument, no row is computed alone. In the simulator, each call has
/// another seed. Adds each call after the first, and its violation if there is one, to *verdict.
/// Throws the errors of Call::run().
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
    for (int64_t row = -2; row < rows; ++row) {  // row -2 and row -1: all rows in one call
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
