// SPDX-License-Identifier: Apache-2.0
// The conversions of every storage type as ops, for comparison with ml_dtypes. Built by
// test_conversions.py. Codes are passed as uint8 or uint16, since NumPy supports few of the types.
#include "kernkit/cpu/elementwise.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/types/small_float.h"

namespace {

using kernkit::TensorView;

using Stored =
    kernkit::types<kernkit::float16, kernkit::bfloat16, kernkit::float8_e3m4, kernkit::float8_e4m3,
                   kernkit::float8_e4m3b11fnuz, kernkit::float8_e4m3fn, kernkit::float8_e4m3fnuz,
                   kernkit::float8_e5m2, kernkit::float8_e5m2fnuz, kernkit::float8_e8m0fnu,
                   kernkit::float6_e2m3fn, kernkit::float6_e3m2fn, kernkit::float4_e2m1fn>;

void encode(TensorView codes, TensorView values, DLDataType dtype) {
  KERNKIT_EXPECT(values).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(codes).same_shape(values).cpu().contiguous();
  kernkit::dispatch(Stored{}, dtype, [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    KERNKIT_EXPECT(codes).dtype(sizeof(T) == 1 ? kernkit::dl_uint8 : kernkit::dl_uint16);
    const auto op = [](float value) { return T(value); };
    kernkit::cpu::elementwise(values.numel(), op, static_cast<T*>(codes.data_ptr()),
                              values.data<const float>());
  });
}

void decode(TensorView values, TensorView codes, DLDataType dtype) {
  KERNKIT_EXPECT(values).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(codes).same_shape(values).cpu().contiguous();
  kernkit::dispatch(Stored{}, dtype, [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    KERNKIT_EXPECT(codes).dtype(sizeof(T) == 1 ? kernkit::dl_uint8 : kernkit::dl_uint16);
    const auto op = [](T code) { return static_cast<float>(code); };
    kernkit::cpu::elementwise(values.numel(), op, values.data<float>(),
                              static_cast<const T*>(codes.data_ptr()));
  });
}

}  // namespace

KERNKIT_EXPORT(encode, "(Tensor(a!) codes, Tensor values, ScalarType dtype) -> ()",
               "codes = values, rounded to dtype.", encode)
KERNKIT_EXPORT(decode, "(Tensor(a!) values, Tensor codes, ScalarType dtype) -> ()",
               "values = codes, read as dtype.", decode)
