// SPDX-License-Identifier: Apache-2.0
#include "kernkit/dispatch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::error_of;

// Returns the dtypes for which dispatch() calls the function.
template <class List>
std::vector<std::string> called(List list, DLDataType dtype) {
  std::vector<std::string> names;
  dispatch(list, dtype, [&](auto tag) {
    names.push_back(dtype_name(dtype_of<type_of<decltype(tag)>>).c_str());
  });
  return names;
}

template <class List>
void expect_each(List list, const std::vector<DLDataType>& dtypes) {
  for (const DLDataType dtype : dtypes) {
    EXPECT_EQ(called(list, dtype), std::vector<std::string>{dtype_name(dtype).c_str()});
    EXPECT_TRUE(contains(list, dtype));
  }
}

TEST(Dispatch, Floating) {
  expect_each(floating{}, {dl_float16, dl_bfloat16, dl_float32, dl_float64});
  EXPECT_FALSE(contains(floating{}, dl_int32));
}

TEST(Dispatch, Integral) {
  expect_each(integral{}, {dl_int8, dl_int16, dl_int32, dl_int64, dl_uint8});
  EXPECT_FALSE(contains(integral{}, dl_bool));
  EXPECT_FALSE(contains(integral{}, dl_uint32));
}

TEST(Dispatch, Concatenated) {
  using Both = concat_t<floating, types<bool>>;
  static_assert(std::is_same_v<Both, types<float16, bfloat16, float, double, bool>>);
  expect_each(Both{}, {dl_float16, dl_bfloat16, dl_float32, dl_float64, dl_bool});
}

TEST(Dispatch, CallsOnceForATypeListedTwice) {
  EXPECT_EQ(called(types<int, float, int>{}, dl_int32), std::vector<std::string>{"int32"});
}

// An earlier KERNKIT_EXPECT accepted the dtype, so the message addresses the author of both lists
// of dtypes and contains the line of the call of dispatch().
TEST(Dispatch, Unsupported) {
  const auto rejection = [](auto list, DLDataType dtype) {
    const int line = __LINE__ + 2;
    try {
      dispatch(list, dtype, [](auto) {});
      return std::string("nothing");
    } catch (const Error& error) {
      EXPECT_EQ(error.location().line, line);
      EXPECT_STREQ(error.location().file, __FILE__);
      const std::string text = error.what();
      const std::string location = "dispatch_test.cc:" + std::to_string(line);
      const size_t at = text.find(location);
      return at == std::string::npos ? text
                                     : std::string(text).replace(at, location.size(), "HERE");
    }
  };
  const std::string both = " (dispatch() must list every dtype that KERNKIT_EXPECT accepts)";
  EXPECT_EQ(
      rejection(types<float>{}, dl_float64),
      "TypeError: dispatch() at HERE: dtype float64 is not in its list; expected float32" + both);
  EXPECT_EQ(rejection(types<float, bool>{}, dl_float64),
            "TypeError: dispatch() at HERE: dtype float64 is not in its list; expected float32 or "
            "bool" +
                both);
  EXPECT_EQ(rejection(floating{}, dl_uint8),
            "TypeError: dispatch() at HERE: dtype uint8 is not in its list; expected float16, "
            "bfloat16, float32 or float64" +
                both);
}

TEST(Dispatch, LanesAndBitsCount) {
  EXPECT_FALSE(contains(floating{}, make_dtype(DTypeCode::kFloat, 32, 2)));
  EXPECT_FALSE(contains(types<bool>{}, make_dtype(DTypeCode::kBool, 1)));
  EXPECT_FALSE(contains(types<bfloat16>{}, dl_float16));
}

TEST(Dispatch, PassesErrorsOn) {
  EXPECT_EQ(error_of([] {
              dispatch(floating{}, dl_float32, [](auto) { KERNKIT_THROW(ValueError) << "inner"; });
            }),
            "ValueError: inner");
}

}  // namespace
}  // namespace kernkit
