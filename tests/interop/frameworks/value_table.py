# SPDX-License-Identifier: Apache-2.0
"""Schema lines of many kinds, the C++ ops that are generated from them, their calls, and the values that NumPy gives.

All ops compute the same: with the inputs in the order of the schema line, counted from 1,

    total(i) = sum of k * input_k[i % size of input_k] over the tensors that are read
             + sum of k * number(input_k) over all other inputs, and for each None or empty list
    output j, counted from 1: j * total(i), converted to the dtype of the output

Numbers are small multiples of 0.5, so every sum is exact, and the results of all callers must be equal. The SDK's
parser reads the schema lines; this file evaluates the sizes without the code under test. A row with another computation
specifies the code as `body` and the results as `expected`."""

import dataclasses
import functools
import math
import re
from typing import Callable, Dict, List, Optional

import numpy as np
from kernkit.schema import Op, Value
from lines import dtype_words, parse, shape_text

RUN = (2, 3)  # the sizes that replace "..." in a shape
SIZES = {"n": 3, "d": 4, "m": 2, "k": 2, "e": 5, "group": 2}
NONE, EMPTY = 30, 20  # the numbers that represent None and an empty list


@dataclasses.dataclass(frozen=True)
class Row:
    """An op of the table."""

    line: str  # the schema without the op's name
    keeps: str = ""  # "before" or "after": the op allocates a table before or after the result, and keeps the table
    # For an op that does not compute total(): the body of the C++ function, and f(arguments), which returns {name:
    # value}.
    body: str = ""
    expected: Optional[Callable[[Dict[str, object]], Dict[str, np.ndarray]]] = None
    sizes: Dict[str, int] = dataclasses.field(default_factory=dict)  # overrides SIZES
    without: str = ""  # names of callers that do not support the row; a comment at the row has the reason


_PLUS_SUM = """  float sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data<const float>()[i];
  for (int64_t i = 0; i < x.numel(); ++i) y.data<float>()[i] = x.data<const float>()[i] + sum;"""

ROWS: Dict[str, Row] = {
    # Elementwise ops that declare, by "each...", that one call computes a batch.
    "each": Row("(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()"),
    "each_two": Row("(Tensor(out!) z[each...], Tensor x[each...], Tensor y[each...]) -> ()"),
    "each_returned": Row("(Tensor x[each...]) -> Tensor y[each...]"),
    "each_returned_two": Row("(Tensor x[each...], Tensor w[each...]) -> (Tensor y[each...], Tensor z[each...]: float64)"),
    "each_in_place": Row("(Tensor(a!) x[each...], float factor) -> ()"),
    "each_optional": Row("(Tensor(out!) y[each...], Tensor x[each...], Tensor? w[each...]=None) -> ()"),
    # Each element plus the sum of all elements: the op accepts any shape, and the result of a batch differs from the
    # results of its items.
    "plus_sum": Row("(Tensor(out!) y[...], Tensor x[...]) -> ()", body=_PLUS_SUM, expected=lambda inputs: {"y": inputs["x"] + inputs["x"].sum()}),
    "plus_sum_returned": Row("(Tensor x[...]) -> Tensor y[...]", expected=lambda inputs: {"y": inputs["x"] + inputs["x"].sum()},
                             body="  Tensor y = kernkit::alloc_tensor(x.sizes(), x.dtype(), x.device());\n" + _PLUS_SUM + "\n  return y;"),
    # Elementwise ops that do not declare that one call computes a batch.
    "scaled": Row("(Tensor(out!) y[...], Tensor x[...], float factor) -> ()"),
    "added": Row("(Tensor(out!) z[...], Tensor x[...], Tensor y[...]) -> ()"),
    "output_last": Row("(float factor, Tensor x[...], Tensor(out!) y[...]) -> ()"),
    "two_outputs": Row("(Tensor(out!) y[...], Tensor(out!) z[...]: int32, Tensor x[...]) -> ()"),
    "optional_run": Row("(Tensor(out!) y[...], Tensor x[...], Tensor? w[...]=None) -> ()"),
    "returned": Row("(Tensor x[...]) -> Tensor y[...]"),
    "copied": Row("(Tensor(out!) y[...], Tensor x[...]) -> ()", expected=lambda inputs: {"y": inputs["x"].copy()},
                  body="  if (x.numel() != 0) std::memcpy(y.data_ptr(), x.data_ptr(), kernkit::GetDataSize(x));"),
    "returned_two": Row("(Tensor x[...], Tensor w[...]) -> (Tensor y[...], Tensor z[...]: float64)"),
    # Sizes with names.
    "vector": Row("(Tensor(out!) y[n], Tensor x[n]) -> ()"),
    "matrix": Row("(Tensor(out!) y[n, d], Tensor x[n, d], Tensor w[d]) -> ()"),
    "doubled": Row("(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()"),
    "halved": Row("(Tensor(out!) y[n, 2*d], Tensor x[n, d]) -> ()"),
    "joined": Row("(Tensor(out!) y[n + m], Tensor x[n], Tensor w[m]) -> ()"),
    "grouped": Row("(Tensor(out!) q[n, d]: int8, Tensor(out!) s[n, d/group]: float32, Tensor x[n, d], int group) -> ()"),
    "rounded": Row("(Tensor(out!) y[ceil_div(d, 3), round_up(n, 2)], Tensor x[n, d]) -> ()"),
    "counted": Row("(Tensor(out!) y[numel(...)], Tensor x[...]) -> ()"),
    "run_and_size": Row("(Tensor(out!) y[..., n], Tensor x[..., n], Tensor w[n]) -> ()"),
    "size_and_run": Row("(Tensor(out!) y[n, ...], Tensor x[n, ...]) -> ()"),
    "any_size": Row("(Tensor(out!) y[n], Tensor x[n, _]) -> ()"),
    "scalar": Row("(Tensor(out!) y[], Tensor x[n]) -> ()"),
    "made_square": Row("(Tensor x[n]) -> Tensor y[n, n]"),
    "made_two": Row("(Tensor x[2*n]) -> (Tensor first[n], Tensor second[n])"),
    "made_three": Row("(Tensor x[n, d]) -> (Tensor a[n], Tensor b[d]: int64, Tensor c[n, d]: float64)"),
    # Ops with a size that the caller passes.
    "chosen": Row("(Tensor(out!) y[n, k?], Tensor x[n, d]) -> ()"),
    "chosen_once": Row("(Tensor(out!) y[n, k?], Tensor(out!) z[n, k]: int32, Tensor x[n, d]) -> ()"),
    # Ops with an optional tensor in each position, including positions in which the tensor binds a size.
    "optional_first": Row("(Tensor? w[n], Tensor(out!) y[n], Tensor x[n]) -> ()"),
    "optional_between": Row("(Tensor(out!) y[n], Tensor? w[n], Tensor x[n]) -> ()"),
    "optional_last": Row("(Tensor(out!) y[n], Tensor x[n], Tensor? w[n]=None) -> ()"),
    "optional_two": Row("(Tensor(out!) y[n, d], Tensor x[n, d], Tensor? u[d]=None, Tensor? v[d]=None) -> ()"),
    "optional_binds": Row("(Tensor(out!) y[n], Tensor x[n], Tensor? u[m]=None, Tensor? v[m]=None) -> ()"),
    "optional_binds_twice": Row("(Tensor(out!) y[n], Tensor x[n], Tensor? u[2*m]=None, Tensor? v[m]=None) -> ()"),
    "optional_made": Row("(Tensor x[n, d], Tensor? w[d]=None, float eps=0.5) -> Tensor y[n, d]"),
    "optional_written": Row("(Tensor x[n], Tensor(a!)? y[n]=None) -> ()"),
    "optional_out": Row("(Tensor x[n], Tensor(out!)? y[n]=None) -> ()"),
    "optional_out_chosen": Row("(Tensor x[n], Tensor(out!)? y[n, k?]=None) -> ()"),
    "optional_out_chosen_twice": Row("(Tensor x[n], Tensor(out!)? y[n, k?]=None, Tensor(out!)? z[k]=None) -> ()"),
    "optional_out_first": Row("(Tensor(out!)? y[k?], Tensor(out!)? z[k], Tensor x[n]) -> ()"),
    # Lists.
    "list_alike": Row("(Tensor(out!) y[...], Tensor[] xs[...]) -> ()"),
    "list_of_sizes": Row("(Tensor(out!) y[n], Tensor[] xs[n, d]) -> ()"),
    "list_says_dtype": Row("(Tensor(out!) y[m], Tensor[] xs[_], int m) -> ()"),
    "list_and_optional": Row("(Tensor(out!) y[m], Tensor[] xs[m], Tensor? w[n]) -> ()"),
    "list_beside": Row("(Tensor(out!) y[n], Tensor x[n], Tensor[] ws[n]) -> ()"),
    "list_binds": Row("(Tensor(out!) y[n], Tensor x[n], Tensor[]? us[m]=None, Tensor? v[m]=None) -> ()"),
    "list_optional": Row("(Tensor(out!) y[n], Tensor x[n], Tensor[]? ws[n]=None) -> ()"),
    "list_written": Row("(Tensor(a!)[] ys[n], Tensor x[n]) -> ()"),
    "list_out": Row("(Tensor(out!)[] ys[n], Tensor x[n]) -> ()"),
    "list_out_chosen": Row("(Tensor(out!)[] ys[n, k?], Tensor x[n]) -> ()"),
    "list_out_optional": Row("(Tensor x[n], Tensor(out!)[]? ys[n, k?]=None) -> ()"),
    "list_of_ints": Row("(Tensor(out!) y[n], Tensor x[n], int[] k, int[]? more=None) -> ()"),
    # In place.
    "in_place": Row("(Tensor(a!) x[...], float factor) -> ()"),
    "in_place_of_two": Row("(Tensor(a!) x[...], Tensor w[...]) -> ()"),
    "in_place_two": Row("(Tensor(a!) x[n, d], Tensor(b!) r[n, d], Tensor w[d]) -> ()"),
    "in_place_and_out": Row("(Tensor(out!) y[n], Tensor(a!) x[n]) -> ()"),
    "in_place_last": Row("(Tensor(out!) y[n], Tensor? w[n], Tensor(a!) x[n]) -> ()"),
    "in_place_and_made": Row("(Tensor(a!) x[n], Tensor w[n]) -> Tensor y[n]"),
    # Dtypes.
    "dtype_of": Row("(Tensor(out!) y[n]: w, Tensor x[n], Tensor w[n]: int32) -> ()"),
    "dtype_of_parameter": Row("(Tensor x[n], ScalarType t) -> Tensor y[n]: t"),
    "dtype_or": Row("(Tensor x[n], ScalarType? t=None) -> Tensor y[n]: t or float64"),
    "dtype_of_optional": Row("(Tensor(out!) y[n]: w or float64, Tensor x[n], Tensor? w[n]: int32=None) -> ()"),
    "dtype_chosen": Row("(Tensor(out!) y[n]: ?, Tensor x[n]) -> ()"),
    "dtypes": Row("(Tensor(out!) y[n]: uint8, Tensor(out!) z[n]: float64, Tensor x[n]: int64, Tensor w[n]: int8) -> ()"),
    # Ops that allocate a table once and keep the table.
    "keeps_before": Row("(Tensor x[n]) -> Tensor y[n]", keeps="before"),
    "keeps_after": Row("(Tensor x[n]) -> Tensor y[n]", keeps="after"),
    "keeps_of_two": Row("(Tensor x[n]) -> (Tensor y[n], Tensor z[n])", keeps="before"),
    "keeps_with_out": Row("(Tensor(out!) y[n], Tensor x[n]) -> ()", keeps="before"),
}

# {type: defaults, as schema text}. Each default is used for a required parameter and for an optional parameter.
DEFAULTS: Dict[str, List[str]] = {
    "int": ["0", "7", "-3", "-007", "9223372036854775807", "-9223372036854775808"],
    "float": ["0.5", "-2", "1e2", "-.5", "5.", "007", "1e-400", "inf", "-inf", "nan", "-0.0"],
    "bool": ["True", "False"],
    "str": ["''", "'ab'", "'it\\s'", "'say \"so\"'", '"it\'s"', "'%d {x} #'", "'\u00e9'", "'a\tb'", "'a\nb'", "'None'"],
    "ScalarType": ["float32", "bfloat16", "bool", "int8", "uint16", "uint64", "complex64", "float8_e4m3fn", "float8_e5m2"],
}
for _kind, _texts in DEFAULTS.items():
    _both = ", ".join(f"{_kind} p{i}={text}, {_kind}? q{i}={text}" for i, text in enumerate(_texts))
    ROWS[f"defaults_{_kind.lower()}"] = Row(f"(Tensor(out!) y[n], Tensor x[n], {_both}, {_kind}? none=None) -> ()")
ROWS["device"] = Row("(Tensor(out!) y[n], Tensor x[n], Device p, Device? none=None) -> ()")
# A default also applies if the call omits the preceding parameters.
ROWS["defaults_all"] = Row("(Tensor x[n], float? f=inf, int? i=7, bool? b=True, str? s='\\', ScalarType? t=uint16, float g=nan) -> Tensor y[n]")

# For each type, a value that differs from all defaults above.
VALUES = {"int": 3, "float": 1.5, "bool": False, "str": "xyz", "ScalarType": "int32", "Device": "cuda:1"}


# Functions that make the arguments of a row.

@functools.lru_cache(maxsize=None)
def op_of(name: str) -> Op:
    return parse(name + ROWS[name].line)


def sizes_of(name: str, shape: str, empty: bool) -> tuple:
    """Returns the sizes of a shape in the schema line of row `name`. If `empty`, size n and the first size of "..." are
    0."""
    row = ROWS[name]
    run = (0,) + RUN[1:] if empty else RUN
    names = {**SIZES, **row.sizes, **({"n": 0} if empty else {})}
    names.update(ceil_div=lambda a, b: -(-a // b), round_up=lambda a, b: -(-a // b) * b, numel=math.prod(run))
    sizes: List[int] = []
    for text in re.split(r",(?![^(]*\))", shape) if shape.strip() else []:
        text = text.strip().rstrip("?").replace("numel(...)", "numel").replace("/", "//")
        sizes += run if text in ("...", "each...") else [2] if text == "_" else [eval(text, {}, names)]  # noqa: S307
    return tuple(sizes)


def _like(op: Op) -> Optional[Value]:
    """Returns the tensor whose dtype an output has if the schema line gives no dtype for the output."""
    read = [v for v in op.parameters if v.type == "Tensor" and not v.is_only_written and not v.is_optional]
    return next((v for v in read if not v.is_list), read[0] if read else None)


def dtype_of(op: Op, value: Value, arguments: Dict[str, object]) -> str:
    """Returns the dtype of a tensor in a call, according to the schema line and the other arguments of the call."""
    named = {v.name: v for v in op.parameters}
    if value.dtype == ("?",):
        return "float64"
    for name in dtype_words(op, value):
        if name in named:
            argument = arguments.get(name, default_of(named[name]))
            if argument is None:
                continue
            return str(argument.dtype) if isinstance(argument, np.ndarray) else str(argument)
        return name
    like = _like(op)
    return "float32" if like is None or like is value or not (value.is_only_written or value in op.results) else dtype_of(op, like, arguments)


def default_of(value: Value) -> object:
    """Returns the default of a parameter as a Python value; None if the parameter has no default."""
    text = value.default or "None"
    if text == "None":
        return None
    if value.type in ("str", "ScalarType"):
        return text[1:-1] if value.type == "str" else text
    return {"int": int, "float": float, "bool": lambda text: text == "True"}[value.type](text)


def tensor(op: Op, name: str, value: Value, arguments: Dict[str, object], empty: bool, seed: int) -> np.ndarray:
    shape = sizes_of(name, shape_text(value), empty)
    dtype = dtype_of(op, value, arguments)
    if value.is_only_written:
        return np.full(shape, 77, dtype)  # the op must not read this array
    return (np.arange(math.prod(shape)).reshape(shape) * (seed + 1) % 5 + seed).astype(dtype)


def cases(name: str) -> Dict[str, Dict[str, object]]:
    """Returns {case: arguments}. A parameter without an entry is omitted from the call."""
    op = op_of(name)

    def call(empty: bool = False, none: tuple = (), is_left_out: bool = False, no_items: tuple = (), values: Dict[str, object] = {}) -> Dict[str, object]:
        inputs: Dict[str, object] = {}
        # Tensors come last, because their dtypes may depend on other parameters.
        for value in sorted(op.parameters, key=lambda v: (v.type == "Tensor") + v.is_written + v.is_only_written):
            seed = op.parameters.index(value) + 1
            if value.name in none:
                inputs[value.name] = None
            elif is_left_out and value.default is not None:
                continue
            elif value.name in no_items:
                inputs[value.name] = []
            elif value.type == "Tensor":
                count = range(2 if value.is_list else 1)
                tensors = [tensor(op, name, value, inputs, empty, seed + i) for i in count]
                inputs[value.name] = tensors if value.is_list else tensors[0]
            elif value.is_list:
                inputs[value.name] = [2, 5]
            else:
                named = SIZES.get(value.name)  # the parameter's value is also a size
                inputs[value.name] = named or values.get(value.name, VALUES[value.type])
        return {v.name: inputs[v.name] for v in op.parameters if v.name in inputs}

    calls = {"all given": call()}
    if any(v.default is not None for v in op.parameters):
        calls["defaults"] = call(is_left_out=True)
    optional = [v.name for v in op.parameters if v.is_optional]
    for optional_name in optional:
        calls[f"{optional_name} is None"] = call(none=(optional_name,))
    if len(optional) > 1:
        calls["all None"] = call(none=tuple(optional))
    lists = [v for v in op.parameters if v.is_list]
    for value in lists:
        if not _must_have_items(op, value):
            calls[f"{value.name} is empty"] = call(no_items=(value.name,))
    if not name.startswith("default") and not ROWS[name].body:
        calls["no elements"] = call(empty=True)
    return calls


def _must_have_items(op: Op, value: Value) -> bool:
    """Returns whether the list must have an item, because the first item binds a size."""
    if value.type != "Tensor" or value.is_optional:
        return False
    other_tensors = [v for v in op.parameters if v.type == "Tensor" and v is not value and not (v.is_list or v.is_only_written or v.is_optional)]
    return "?" in shape_text(value) if value.is_only_written else not other_tensors


# Functions that compute the expected results and generate the C++ code of the ops.

def number(value: Value, argument: object) -> float:
    """Returns the number that represents an argument other than a tensor in total()."""
    if argument is None:
        return NONE
    if isinstance(argument, list):
        return sum((i + 1) * number(value, item) for i, item in enumerate(argument)) if argument else EMPTY
    if value.type == "float":
        return 5 if math.isnan(argument) else 6 if argument == math.inf else 8 if argument == -math.inf else 9 if math.copysign(1, argument) < 0 == argument else argument
    if value.type == "int":
        return argument % 11
    if value.type == "str":
        data = argument.encode()
        return len(data) + sum((i + 1) * byte for i, byte in enumerate(data)) % 101
    if value.type == "ScalarType":
        codes = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6, "float8_e4m3fn": 10, "float8_e5m2": 12}
        bits = 8 if argument in codes else int(re.sub(r"\D", "", argument))
        return 10 * codes[argument if argument in codes else re.sub(r"\d", "", argument)] + bits
    if value.type == "Device":
        return {"cpu": 1, "cuda:1": 21}[argument]
    return float(argument)


def expected(name: str, arguments: Dict[str, object]) -> Dict[str, object]:
    """Returns {output: array or list of arrays} after a call, without outputs that the call omits. Does not change the
    arguments."""
    row, op = ROWS[name], op_of(name)
    full = {v.name: arguments.get(v.name, default_of(v)) for v in op.parameters}
    if row.expected is not None:
        return row.expected(full)
    plain, tensors = 0.0, []
    for k, value in enumerate((v for v in op.parameters if not v.is_only_written), 1):
        argument = full[value.name]
        if value.type != "Tensor" or argument is None or (isinstance(argument, list) and not argument):
            plain += k * number(value, argument)
        else:
            tensors += [(k + i, x) for i, x in enumerate(argument if value.is_list else [argument])]
    if row.keeps:
        tensors.append((1, np.arange(1000) * 10))
    outputs = [v for v in op.parameters if v.is_written] + op.results
    output_arrays: Dict[str, object] = {}
    j = 0

    def out(shape: tuple, dtype: str) -> np.ndarray:
        nonlocal j
        j += 1
        i = np.arange(math.prod(shape))
        total = np.full(i.size, plain)
        for k, x in tensors:
            flat = x.reshape(-1).astype("float64")
            if flat.size:
                total = total + k * flat[i % flat.size]
        total = j * total
        rounded = np.trunc(total).astype("int64") if np.issubdtype(np.dtype(dtype), np.integer) else total
        return rounded.astype(dtype).reshape(shape)

    empty = any(x.size == 0 for _, x in tensors)
    for value in outputs:
        argument = full.get(value.name)
        if value in op.results:
            output_arrays[value.name] = out(sizes_of(name, shape_text(value), empty), dtype_of(op, value, arguments))
        elif isinstance(argument, list):
            output_arrays[value.name] = [out(x.shape, str(x.dtype)) for x in argument]
        elif argument is not None:
            output_arrays[value.name] = out(argument.shape, str(argument.dtype))
    return output_arrays


# The library.

_CPP = {"Tensor": "TensorView", "int": "int64_t", "float": "double", "bool": "bool", "str": "std::string_view",
        "ScalarType": "DLDataType", "Device": "DLDevice"}  # fmt: skip

_HEAD = r"""// Generated by tests/interop/frameworks/value_table.py.
#include <cmath>
#include <cstring>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernkit/dispatch.h"
#include "kernkit/expect.h"
#include "kernkit/list.h"
#include "kernkit/optional.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

namespace {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::Tensor;
using kernkit::TensorView;

using Numbers = kernkit::types<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t>;

[[maybe_unused]] int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
[[maybe_unused]] int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

double number(int64_t x) { return static_cast<double>((x % 11 + 11) % 11); }
double number(bool x) { return x ? 1 : 0; }
double number(double x) {
  if (std::isnan(x)) return 5;
  if (std::isinf(x)) return x > 0 ? 6 : 8;
  return x == 0 && std::signbit(x) ? 9 : x;
}
double number(std::string_view x) {
  size_t sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += (i + 1) * static_cast<unsigned char>(x[i]);
  return static_cast<double>(x.size() + sum % 101);
}
double number(DLDataType x) { return 10 * x.code + x.bits; }
double number(DLDevice x) {
  return 10 * static_cast<int>(x.device_type) * x.device_id + (x.device_id > 0 ? 1 : x.device_type);
}

class Total {
 public:
  void read(TensorView x) { read_as(x, ++k_); }
  void read(const Optional<TensorView>& x) { x ? read(*x) : add(NONE); }
  void read(const ListView<TensorView>& xs) {
    if (xs.empty()) return add(EMPTY);
    int k = ++k_;
    for (const TensorView x : xs) read_as(x, k++);
  }
  void read(const Optional<ListView<TensorView>>& xs) { xs ? read(*xs) : add(NONE); }
  void read(ShapeView xs) {
    double sum = 0;
    for (size_t i = 0; i < xs.size(); ++i) sum += static_cast<double>(i + 1) * number(xs[i]);
    add(xs.size() == 0 ? EMPTY : sum);
  }
  void read(const Optional<ShapeView>& xs) { xs ? read(*xs) : add(NONE); }
  template <class T>
  auto read(T x) -> decltype(void(number(x))) {
    add(number(x));
  }
  template <class T>
  auto read(const Optional<T>& x) -> decltype(void(number(*x))) {
    add(x ? number(*x) : NONE);
  }
  void read_kept(TensorView x) { read_as(x, 1); }

  void write(TensorView y) {
    KERNKIT_EXPECT(y).cpu().contiguous();
    ++j_;
    kernkit::dispatch(Numbers{}, y.dtype(), [&](auto tag) {
      using T = kernkit::type_of<decltype(tag)>;
      for (int64_t i = 0; i < y.numel(); ++i) {
        const double value = j_ * at(static_cast<size_t>(i));
        y.data<T>()[i] = std::is_integral_v<T> ? static_cast<T>(static_cast<int64_t>(value))
                                               : static_cast<T>(value);
      }
    });
  }
  void write(const Optional<TensorView>& y) {
    if (y) write(*y);
  }
  void write(const ListView<TensorView>& ys) {
    for (const TensorView y : ys) write(y);
  }
  void write(const Optional<ListView<TensorView>>& ys) {
    if (ys) write(*ys);
  }

 private:
  struct Read {
    double k;
    std::vector<double> values;
  };
  static constexpr double NONE = @none@;
  static constexpr double EMPTY = @empty@;

  void add(double number) { plain_ += ++k_ * number; }
  void read_as(TensorView x, int k) {
    KERNKIT_EXPECT(x).cpu().contiguous();
    Read one = {static_cast<double>(k), {}};
    kernkit::dispatch(Numbers{}, x.dtype(), [&](auto tag) {
      using T = kernkit::type_of<decltype(tag)>;
      for (int64_t i = 0; i < x.numel(); ++i) {
        one.values.push_back(static_cast<double>(x.data<const T>()[i]));
      }
    });
    read_.push_back(std::move(one));
  }
  double at(size_t i) const {
    double sum = plain_;
    for (const Read& one : read_) {
      if (!one.values.empty()) sum += one.k * one.values[i % one.values.size()];
    }
    return sum;
  }

  int k_ = 0;
  int j_ = 0;
  double plain_ = 0;
  std::vector<Read> read_;
};

/// A table like a tensor, made in the first call that has elements and kept as long as the process lives.
TensorView kept(Tensor** table, ShapeView shape, DLDevice device) {
  if (*table == nullptr || (*table)->sizes() != shape) {
    *table = new Tensor(kernkit::alloc_tensor(shape, kernkit::dl_float32, device));
    for (int64_t i = 0; i < (*table)->numel(); ++i) (*table)->data<float>()[i] = 10.F * static_cast<float>(i);
  }
  return **table;
}

}  // namespace
"""


def _cpp_type(value: Value) -> str:
    text = _CPP[value.type]
    if value.is_list:
        text = "ShapeView" if value.type == "int" else f"ListView<{text}>"
    return f"Optional<{text}>" if value.is_optional else text


def _cpp_sizes(op: Op) -> List[str]:
    """Returns C++ declarations of variables for the sizes of required tensors."""
    lines, ints = [], {v.name for v in op.parameters if v.type == "int"}
    for value in op.parameters:
        if value.type != "Tensor" or value.is_optional or value.is_list or value.is_only_written:
            continue
        for i, text in enumerate(shape_text(value).split(",")):
            scaled = re.fullmatch(r" *(?:(\d+)\*)?([a-z])", text)
            if scaled and scaled[2] not in ints:
                ints.add(scaled[2])
                lines.append(f"  [[maybe_unused]] const int64_t {scaled[2]} = {value.name}.size({i}) / {scaled[1] or 1};")
    return lines


def _cpp_made(op: Op, value: Value) -> str:
    """Returns the C++ expression that allocates a result."""
    like = _like(op)
    sizes = shape_text(value)
    if sizes in ("...", "each..."):
        shape = f"{like.name}.sizes()"
    else:
        shape = f"ShapeView(std::vector<int64_t>{{{sizes}}}.data(), {len(sizes.split(','))})"
    dtype = f"{like.name}.dtype()"
    for name in reversed(dtype_words(op, value)):
        named = next((v for v in op.parameters if v.name == name), None)
        if named is not None:
            dtype = f"{name}.value_or({dtype})" if named.is_optional else name
        else:
            dtype = f"kernkit::dl_{name}"
    return f"kernkit::alloc_tensor({shape}, {dtype}, {like.name}.device())"


def _cpp(name: str) -> str:
    row, op = ROWS[name], op_of(name)
    count = len(op.results)
    result = "void" if not count else "Tensor" if count == 1 else f"std::tuple<{', '.join(['Tensor'] * count)}>"
    parameters = ", ".join(f"{_cpp_type(v)} {v.name}" for v in op.parameters)
    lines = ["  Total total;", *_cpp_sizes(op)]
    lines += [f"  total.read({v.name});" for v in op.parameters if not v.is_only_written]
    makes = [f"  Tensor {v.name} = {_cpp_made(op, v)};" for v in op.results]
    if row.keeps:
        makes.insert(0 if row.keeps == "before" else len(makes), "  static Tensor* table = nullptr;\n  total.read_kept(kept(&table, x.sizes(), x.device()));")
    lines += makes
    lines += [f"  total.write({v.name});" for v in op.parameters if v.is_written]
    lines += [f"  total.write(TensorView({v.name}));" for v in op.results]
    results = [f"std::move({v.name})" if count > 1 else v.name for v in op.results]
    lines += [f"  return {'{' * (count > 1)}{', '.join(results)}{'}' * (count > 1)};"] * bool(count)
    body = row.body or "\n".join(lines)
    literal = "".join(c if c not in '"\\' else "\\" + c for c in row.line).replace("\n", "\\n").replace("\t", "\\t")
    return f'namespace {{\n{result} {name}({parameters}) {{\n{body}\n}}\n}}  // namespace\nKERNKIT_EXPORT({name}, "{literal}", "", {name})\n'


def source(names: Optional[List[str]] = None) -> str:
    """Returns the C++ source that defines these ops, by default all ops."""
    head = _HEAD.replace("@none@", str(NONE)).replace("@empty@", str(EMPTY))
    return head + "\n" + "\n".join(_cpp(name) for name in names or ROWS)
