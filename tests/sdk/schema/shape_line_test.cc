// SPDX-License-Identifier: Apache-2.0
// Shapes and dtypes of a schema line, and their errors.
#include "kernkit/schema/parser.h"

#include <gtest/gtest.h>

#include <string>

namespace kernkit::schema {
namespace {

ShapeLine read(const char* text) { return parse_line(text).shapes; }

constexpr char kSilu[] = "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()";
constexpr ShapeLine kRead = parse_line(kSilu).shapes;
static_assert(kRead.error == ShapeError::kNone && kRead.num_names == 2);

TEST(ShapeLine, EachIsAPromiseOfAllRuns) {
  const auto is_each = [](const char* text) {
    const ShapeLine line = read(text);
    EXPECT_EQ(line.error, ShapeError::kNone) << text;
    return line.is_each();
  };
  EXPECT_TRUE(is_each("(Tensor(out!) y[each...], Tensor x[ each ... ]) -> ()"));
  EXPECT_TRUE(is_each("(Tensor x[each..., n]) -> Tensor y[each..., 2*n]"));
  EXPECT_FALSE(is_each("(Tensor(out!) y[...], Tensor x[...]) -> ()"));
  EXPECT_FALSE(is_each("(Tensor(out!) y[each...], Tensor x[...]) -> ()"));
  EXPECT_FALSE(is_each("(Tensor(out!) y[each], Tensor x[each]) -> ()"));  // `each` is a size here
  EXPECT_FALSE(is_each("(Tensor(out!) y[2*each], Tensor x[each, each1]) -> ()"));
}

TEST(ShapeLine, NamesAreBoundByTheFirstRequiredInput) {
  EXPECT_EQ(kRead.names[0].value, 1);
  EXPECT_EQ(kRead.names[1].value, 1);
  EXPECT_EQ(kRead.names[1].axis, 1);
  EXPECT_EQ(kRead.names[1].factor, 2);
  EXPECT_EQ(kRead.like, 1);
  const ShapeLine line =
      read("(Tensor? w[d], Tensor[] xs[n, d], Tensor x[..., d], Tensor(out!) y[d, k?]) -> ()");
  ASSERT_EQ(line.error, ShapeError::kNone) << line.position;
  EXPECT_EQ(line.names[0].value, 2);  // d is bound by value 2, after w and xs
  EXPECT_EQ(line.names[0].axis, -1);  // after "..."
  EXPECT_EQ(line.names[1].value, 1);  // n
  EXPECT_EQ(line.names[2].value, 3);  // k is chosen by the caller
  EXPECT_EQ(line.run_of, 2);
  EXPECT_EQ(line.like, 2);
  // If several tensors could determine `run_of` and `like`, the first of these tensors is used,
  // even if it is the first parameter.
  const ShapeLine first = read("(Tensor x[...], Tensor w[...], Tensor(out!) y[...]) -> ()");
  ASSERT_EQ(first.error, ShapeError::kNone) << first.position;
  EXPECT_EQ(first.run_of, 0);
  EXPECT_EQ(first.like, 0);
}

// Schema lines for ops of vLLM, SGLang and FlashInfer. The schema lines declare the shapes that the
// ops' own shape functions or wrappers compute.
class Census : public ::testing::TestWithParam<const char*> {};
TEST_P(Census, IsRead) {
  const Schema schema = parse(GetParam());
  ASSERT_EQ(schema.error, ParseError::kNone) << schema.position;
  EXPECT_TRUE(schema.has_shapes);
  const ShapeLine line = read(GetParam());
  EXPECT_EQ(line.error, ShapeError::kNone)
      << static_cast<int>(line.error) << " at " << line.position;
}
INSTANTIATE_TEST_SUITE_P(
    ShapeLine, Census,
    ::testing::Values(
        "(Tensor(out!) result[..., d], Tensor input[..., d], Tensor weight[d], float epsilon) -> "
        "()",
        "(Tensor(a!) input[..., d], Tensor(b!) residual[..., d], Tensor weight[d], float epsilon) "
        "-> ()",
        "(Tensor(out!) result[..., d], Tensor input[..., 2*d]) -> ()",
        "(Tensor(out!) result[..., d]: ?, Tensor input[..., d], Tensor weight[d], Tensor(out!) "
        "scale[numel(...), 1]: float32, float epsilon, Tensor? scale_ub[], Tensor(c!)? "
        "residual[..., d]) -> ()",
        "(Tensor(out!) out[n, d]: ?, Tensor input[n, 2*d], Tensor(out!) scales[n, d/group_size]: "
        "float32, int group_size, Tensor? scale_ub=None, bool is_scale_transposed=False) -> ()",
        "(Tensor positions[...], Tensor(a!) query[..., _], Tensor(b!)? key[..., _], int head_size, "
        "Tensor cos_sin_cache[_, r], bool is_neox) -> ()",
        "(Tensor(out!) out[s, h, d], Tensor query[s, h, d], Tensor key_cache[b, k, d/x, p, x], "
        "Tensor "
        "value_cache[b, k, d, p], int num_kv_heads, float scale, Tensor block_tables[s, _], Tensor "
        "seq_lens[s], int block_size, int max_seq_len, Tensor? alibi_slopes[h], str "
        "kv_cache_dtype, "
        "Tensor k_scale, Tensor v_scale) -> ()",
        "(Tensor input[m, k], Tensor qweight[k, o], Tensor scales[g, 8*o], Tensor qzeros[g, o], "
        "int "
        "split_k_iters) -> Tensor y[m, 8*o]",
        "(Tensor qweight[i, o], Tensor scales[g, 8*o], Tensor zeros[g, o], int split_k_iters, int "
        "thx, "
        "int thy) -> Tensor y[i, 8*o]: scales",
        "(Tensor b_q_weight, Tensor perm, int size_k, int size_n, int num_bits, bool "
        "is_a_8bit=False) -> Tensor y[size_k/16, size_n*16/(32/num_bits)]",
        "(Tensor A[m, k], Tensor B[_, n], int b_type, ScalarType? out_type, Tensor? group_scales, "
        "Tensor? group_zeros, int? group_size, Tensor? channel_scales, Tensor? token_scales, str? "
        "schedule) -> Tensor y[m, n]: out_type or A",
        "(Tensor a[m, k], Tensor b_q[_, n], Tensor b_group_scales, int b_group_size, Tensor "
        "b_channel_scales, Tensor a_token_scales, ScalarType? out_type=None, str? "
        "maybe_schedule=None) -> Tensor y[m, n]: out_type or bfloat16",
        "(Tensor mat_a[m, k], Tensor mat_b[k, n], Tensor scales_a, Tensor scales_b, ScalarType "
        "out_dtype, Tensor? bias[n]) -> Tensor y[m, n]: out_dtype",
        "(Tensor(out!) topk_weights[n, k?]: float32, Tensor(out!) topk_indices[n, k]: int32, "
        "Tensor "
        "gating_output[n, e], bool renormalize) -> ()",
        "(Tensor topk_ids[n, k], int num_experts, int block_size, Tensor(out!) "
        "sorted_token_ids[n*k + "
        "num_experts*(block_size-1)]: int32, Tensor(out!) experts_ids[ceil_div(n*k + "
        "num_experts*(block_size-1), block_size)]: int32, Tensor(out!) num_tokens_post_pad[1]: "
        "int32, "
        "Tensor(out!) cumsum_buffer[num_experts+1]: int32, bool pad_sorted_token_ids) -> ()",
        "(Tensor v_a[n, h, d], Tensor s_a[n, h], Tensor v_b[n, h, d], Tensor s_b[n, h], "
        "Tensor(out!) "
        "v_merged[n, h, d], Tensor(out!) s_merged[n, h]: float32) -> ()"));

struct BadShape {
  const char* line;
  ShapeError error;
  int position;
};
void PrintTo(const BadShape& bad, std::ostream* out) { *out << bad.line; }

class BadShapes : public ::testing::TestWithParam<BadShape> {};
TEST_P(BadShapes, ReportsErrorAndPosition) {
  ASSERT_EQ(parse(GetParam().line).error, ParseError::kNone);
  const ShapeLine line = read(GetParam().line);
  EXPECT_EQ(line.error, GetParam().error) << static_cast<int>(line.error);
  EXPECT_EQ(line.position, GetParam().position);
}
using S = ShapeError;
INSTANTIATE_TEST_SUITE_P(
    ShapeLine, BadShapes,
    ::testing::Values(BadShape{"(int n[3]) -> ()", S::kNoTensor, 6},
                      BadShape{"(int n: float32) -> ()", S::kNoTensor, 6},
                      BadShape{"(Tensor x[n,]) -> ()", S::kSize, 12},
                      BadShape{"(Tensor x[2n]) -> ()", S::kSize, 10},
                      BadShape{"(Tensor x[n + ]) -> ()", S::kSize, 14},
                      BadShape{"(Tensor x[(n]) -> ()", S::kSize, 12},
                      BadShape{"(Tensor x[min(n, 2)]) -> ()", S::kSize, 10},
                      BadShape{"(Tensor x[_ + 1]) -> ()", S::kUnclosed, 12},
                      BadShape{"(Tensor x[n 2]) -> ()", S::kUnclosed, 12},
                      BadShape{"(Tensor x[n, _ * 2]) -> ()", S::kUnclosed, 15},
                      BadShape{"(Tensor x[..., ...]) -> ()", S::kTwoRuns, 15},
                      BadShape{"(Tensor x[x]) -> ()", S::kNotAnInt, 10},
                      BadShape{"(Tensor x[f], float f) -> ()", S::kNotAnInt, 10},
                      BadShape{"(Tensor x[k], int? k) -> ()", S::kNotAnInt, 10},
                      BadShape{"(Tensor x[n?]) -> ()", S::kCallerSized, 10},
                      BadShape{"(Tensor x) -> Tensor y[n?]", S::kCallerSized, 23},
                      BadShape{"(Tensor(a) x[n]) -> Tensor(a) y[n]", S::kAliasOfResult, 31},
                      BadShape{"(Tensor(a!) x[n]) -> Tensor(a!) y[n]", S::kAliasOfResult, 33},
                      BadShape{"(Tensor(out!) y[2*n?], Tensor x) -> ()", S::kCallerSized, 16},
                      BadShape{"(Tensor x[n * m], Tensor y[n]) -> ()", S::kUnbound, 14},
                      BadShape{"(Tensor x[n + 1]) -> ()", S::kUnbound, 10},
                      BadShape{"(Tensor? w[n], Tensor x[n + 1]) -> ()", S::kUnbound, 24},
                      BadShape{"(Tensor(out!) y[k], Tensor x[n]) -> ()", S::kUnknownSize, 16},
                      BadShape{"(Tensor x[n], Tensor? w[k]) -> Tensor y[n, k]", S::kUnknownSize,
                               43},
                      BadShape{"(Tensor(out!) y[n*m], Tensor x[n]) -> ()", S::kUnknownSize, 18},
                      BadShape{"(Tensor(out!) y[_], Tensor x[n]) -> ()", S::kAnyOfOutput, 16},
                      BadShape{"(Tensor(out!) y[...], Tensor x[n]) -> ()", S::kNoRun, 16},
                      BadShape{"(Tensor(out!) y[numel(...)], Tensor? x[...]) -> ()", S::kNoRun, 16},
                      BadShape{"(Tensor x[n]: double) -> ()", S::kDtype, 14},
                      BadShape{"(Tensor x[n]: ?) -> ()", S::kDtype, 14},
                      BadShape{"(Tensor x[n], int t) -> Tensor y[n]: t", S::kDtype, 37},
                      BadShape{"(Tensor x[n]) -> Tensor y[n]: x or float32", S::kDtype, 30},
                      BadShape{"(Tensor x[n], ScalarType? t) -> Tensor y[n]: t or", S::kDtype, 49},
                      BadShape{"(Tensor x[n]: ) -> ()", S::kDtype, 14},
                      BadShape{"(int n) -> Tensor y[n]", S::kNoDtypeSource, 18},
                      BadShape{"(Tensor(out!) y[n, k?, 1], int n) -> ()", S::kNoDtypeSource, 14}));

// The four signatures of these projects that no schema line can express, because the shapes or
// dtypes of results depend on a value.
class NotExpressible : public ::testing::TestWithParam<BadShape> {};
TEST_P(NotExpressible, IsRejected) {
  const ShapeLine line = read(GetParam().line);
  EXPECT_EQ(line.error, GetParam().error) << static_cast<int>(line.error);
}
INSTANTIATE_TEST_SUITE_P(
    ShapeLine, NotExpressible,
    ::testing::Values(
        // marlin_gemm: y has the dtype of a if that is a 16-bit float, otherwise the dtype of
        // b_scales.
        BadShape{"(Tensor a[m, k], Tensor b_scales[_, n]) -> Tensor y[m, n]: a or b_scales",
                 S::kDtype, 0},
        // scaled_fp4_quant: the bool `swizzled` determines whether sizes are rounded up and packed.
        BadShape{
            "(Tensor x[m, n], bool swizzled) -> (Tensor y[m, n/2]: uint8, Tensor s[m*swizzled, "
            "n/16]: "
            "uint8)",
            S::kNotAnInt, 0},
        // sampling_from_logits: y has the number of rows of indices if given, otherwise of logits.
        BadShape{"(Tensor logits[_, v], Tensor? indices[n]) -> Tensor y[n]: int32", S::kUnknownSize,
                 0},
        // segment_packbits: the size of y is the last element of indptr.
        BadShape{"(Tensor x[_], Tensor indptr[b]) -> Tensor y[indptr]: uint8", S::kNotAnInt, 0}));

}  // namespace
}  // namespace kernkit::schema
