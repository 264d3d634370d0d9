# SPDX-License-Identifier: Apache-2.0
"""The functions of CUDA's math API for float and double: how kernels call them, their references, and their bounds.

A bound is the greatest distance from the correctly rounded result [units in the last place]. Source: the tables
"Maximum ULP Error" of the CUDA C++ programming guide, mathematical functions. A function with a bound of 0 ulp is
compared with the C library's function, which also rounds correctly. {f} in an expression is the suffix of a float
function.
"""

import ctypes
import dataclasses
import math
import struct
from typing import Callable, Optional

import mpmath
from mpmath import mp

mp.prec = 200


@dataclasses.dataclass(frozen=True)
class Format:
    """A binary floating-point format."""

    name: str
    suffix: str
    code: str  # format character of module struct
    integer: str  # format character of the integer with the same size
    bits: int  # bits of the mantissa, including the hidden bit
    least: int  # exponent of the smallest normal number

    def rounded(self, x, mode="n"):
        """Returns x, an mpf or a float, rounded to this format. `mode` is "n" (to nearest even), "z" (to zero), "u"
        (up) or "d" (down)."""
        if not mpmath.isfinite(x) or x == 0:
            return float(x)
        sign, man, exp, count = mp.mpf(x)._mpf_
        unit = max(exp + count - self.bits, self.least - self.bits + 1)
        if exp + count > self.greatest_exponent:
            steps, remainder = 1 << self.bits, 0  # the magnitude is larger than the largest number
        elif exp >= unit:
            steps, remainder = man << (exp - unit), 0
        elif exp + count < unit - 1:
            steps, remainder = 0, -1  # the magnitude is below half of the smallest number
        else:
            steps, part, half = man >> (unit - exp), man & ((1 << (unit - exp)) - 1), 1 << (unit - exp - 1)
            remainder = 0 if part == 0 else 2 if part == half else 1 if part > half else -1
        steps += remainder != 0 and {"n": remainder == 1 or (remainder == 2 and steps & 1 == 1), "z": False, "u": not sign, "d": sign == 1}[mode]
        if steps and steps.bit_length() + unit > self.greatest_exponent:
            overflows = mode == "n" or (mode == "u" and not sign) or (mode == "d" and sign)
            value = math.inf if overflows else self.greatest
        else:
            value = math.ldexp(steps, unit)
        return -value if sign else value

    @property
    def greatest_exponent(self):
        return 2 - self.least

    @property
    def greatest(self):
        return math.ldexp((1 << self.bits) - 1, self.greatest_exponent - self.bits)

    def ordered(self, x):
        """Returns an integer that increases by 1 from each number of this format to the next number; 0 for both
        zeros."""
        (number,) = struct.unpack(self.integer, struct.pack(self.code, x))
        return number if number >= 0 else -(number & ((1 << (8 * struct.calcsize(self.code) - 1)) - 1))

    def steps(self, x, count):
        """Returns the number of this format that is `count` numbers after x in ascending order; `count` may be
        negative."""
        number = self.ordered(x) + count
        top = 1 << (8 * struct.calcsize(self.code) - 1)
        return struct.unpack(self.code, struct.pack(self.integer, number if number >= 0 else -number - top))[0]


FLOAT = Format("float", "f", "<f", "<i", 24, -126)
DOUBLE = Format("double", "", "<d", "<q", 53, -1022)


@dataclasses.dataclass(frozen=True)
class Function:
    expression: str  # C++ expression of the arguments x, y, z and w
    arity: int
    reference: Optional[Callable] = None  # function of mpf arguments; None: the C library's function of the same name
    bounds: tuple = (0, 0)  # float, double [ulp]
    inputs: str = "wide"  # kind of inputs, a key of INPUTS in the test
    special: Optional[Callable] = None  # results for infinities and zeros, if the C library lacks the function
    absolute: tuple = (0.0, 0.0)  # (float, double): permitted absolute difference, which replaces the bound
    inverse_of: Optional[Callable] = None  # monotonic function of an mpf, of which this function is the inverse
    c_name: str = ""  # name of the C library's function, if different
    covers: tuple = ()  # other names of the header that the expression calls
    formats: tuple = (FLOAT, DOUBLE)
    result: str = ""  # C++ type of the result, if different from the arguments' type


def c_function(name, fmt, arguments, result=None):
    """Returns the C library's function, or None if the C library lacks the function."""
    try:
        function = getattr(_LIBM, name + fmt.suffix)
    except AttributeError:
        return None
    kind = ctypes.c_float if fmt is FLOAT else ctypes.c_double
    function.restype = result or kind
    function.argtypes = [{"int": ctypes.c_int, "long": ctypes.c_long}.get(argument, kind) for argument in arguments]
    return function


_LIBM = ctypes.CDLL("libm.so.6")


def _norm(*x):
    return mpmath.sqrt(sum(coordinate * coordinate for coordinate in x))


def _special_norm(*x):
    return math.hypot(*x)


def _special_rnorm(*x):
    norm = _special_norm(*x)
    return math.nan if math.isnan(norm) else math.inf if norm == 0 else 1 / norm


def _periodic(value):
    """Returns the result of sinpi or cospi at an infinity, a NaN or a zero."""
    return lambda x: value(x) if math.isfinite(x) else math.nan


def _table(rows):
    """Returns a function for the results at infinities and zeros, from a table whose keys are the arguments as text."""
    return lambda x: rows.get(repr(x), math.nan)


def _exact(x):
    return x == mpmath.floor(x)


def _gamma(x):
    return mpmath.nan if x <= 0 and _exact(x) else mpmath.gamma(x)


def _lgamma(x):
    return mpmath.inf if x <= 0 and _exact(x) else mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1000 else mpmath.re(mpmath.loggamma(x))


def _erfcx(x):
    """Returns exp(x^2) erfc(x). If |x| is large, computes only the leading term."""
    if x > 10**20:
        return 1 / (x * mpmath.sqrt(mpmath.pi))
    if x < -1000:
        return 2 * mpmath.exp(x * x)
    with mp.workprec(400):
        return mpmath.exp(x * x) * _erfc(x)


def _erfc(x):
    return mpmath.exp(-x * x) * _erfcx(x) if x > 10**20 else mp.mpf(2) if x < -(10**6) else mpmath.erfc(x)


def _normcdf(x):
    return _erfc(-x / mpmath.sqrt(2)) / 2


UNARY = {
    # name: reference, bounds, inputs, special
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), (2, 1), "wide", _table({"inf": 0.0, "0.0": math.inf, "-0.0": -math.inf})),
    "cbrt": (lambda x: mpmath.cbrt(abs(x)) * mpmath.sign(x), (1, 1)),
    "rcbrt": (lambda x: mpmath.sign(x) / mpmath.cbrt(abs(x)), (1, 1), "wide",
              _table({"inf": 0.0, "-inf": -0.0, "0.0": math.inf, "-0.0": -math.inf})),
    "exp": (mpmath.exp, (2, 1)), "exp2": (lambda x: mpmath.power(2, x), (2, 1)), "exp10": (lambda x: mpmath.power(10, x), (2, 1)),
    "expm1": (mpmath.expm1, (1, 1)), "log": (mpmath.log, (1, 1)), "log2": (lambda x: mpmath.log(x, 2), (1, 1)),
    "log10": (mpmath.log10, (2, 1)), "log1p": (mpmath.log1p, (1, 1)),
    "sin": (mpmath.sin, (2, 2)), "cos": (mpmath.cos, (2, 2)), "tan": (mpmath.tan, (4, 2)),
    "sinpi": (mpmath.sinpi, (1, 2), "wide", _periodic(lambda x: x)), "cospi": (mpmath.cospi, (1, 2), "wide", _periodic(lambda x: 1.0)),
    "asin": (mpmath.asin, (2, 2), "unit"), "acos": (mpmath.acos, (2, 2), "unit"), "atan": (mpmath.atan, (2, 2)),
    "sinh": (mpmath.sinh, (3, 2)), "cosh": (mpmath.cosh, (2, 1)), "tanh": (mpmath.tanh, (2, 1)),
    "asinh": (mpmath.asinh, (3, 3)), "acosh": (mpmath.acosh, (4, 3)), "atanh": (mpmath.atanh, (3, 2), "unit"),
    "erf": (mpmath.erf, (2, 2)), "erfc": (_erfc, (4, 5)),
    "erfcx": (_erfcx, (4, 4), "wide", _table({"inf": 0.0, "-inf": math.inf, "0.0": 1.0, "-0.0": 1.0})),
    "normcdf": (_normcdf, (5, 5), "wide", _table({"inf": 1.0, "-inf": 0.0, "0.0": 0.5, "-0.0": 0.5})),
    "tgamma": (_gamma, (5, 10), "gamma"),
    # lgamma's error is larger near the zeros between -23 and -2.2, for which the guide gives no bound.
    "lgamma": (_lgamma, (6, 4), "lgamma"),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), (6, 6), "small", _table({"inf": math.inf, "-inf": math.inf, "0.0": 1.0, "-0.0": 1.0})),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), (6, 6), "small", _table({"inf": math.inf, "-inf": -math.inf, "0.0": 0.0, "-0.0": -0.0})),
}  # fmt: skip
INVERSE = {
    "erfinv": (mpmath.erf, (2, 5), "unit", _table({"0.0": 0.0, "-0.0": -0.0})),
    "erfcinv": (_erfc, (4, 6), "two", _table({"0.0": math.inf, "-0.0": math.inf})),
    "normcdfinv": (_normcdf, (5, 8), "probability", _table({"0.0": -math.inf, "-0.0": -math.inf})),
}
BESSEL = {
    "j0": lambda x: mpmath.besselj(0, x), "j1": lambda x: mpmath.besselj(1, x),
    "y0": lambda x: mpmath.bessely(0, x) if x > 0 else mpmath.nan, "y1": lambda x: mpmath.bessely(1, x) if x > 0 else mpmath.nan,
}  # fmt: skip

FUNCTIONS = {}
for _name, (_reference, _bounds, *_more) in UNARY.items():
    FUNCTIONS[_name] = Function(f"{_name}{{f}}(x)", 1, _reference, _bounds, *_more)
for _name, (_forward, _bounds, _inputs, _special) in INVERSE.items():
    FUNCTIONS[_name] = Function(f"{_name}{{f}}(x)", 1, None, _bounds, _inputs, _special, inverse_of=_forward)
for _name, _reference in BESSEL.items():
    # For |x| >= 8 the guide bounds the absolute error.
    FUNCTIONS[_name] = Function(f"{_name}{{f}}(x)", 1, _reference, (9, 7), "bessel", absolute=(2.2e-6, 5e-12))
# CUDA's own code computes jn() by a recurrence that divides by x, so the result at zero is NaN.
FUNCTIONS["jn"] = Function("jn{f}(3, x)", 1, lambda x: mpmath.besselj(3, x), (0, 0), "bessel", _table({"inf": 0.0, "-inf": 0.0}),
                           absolute=(2.2e-6, 5e-12))  # fmt: skip
FUNCTIONS["yn"] = Function("yn{f}(2, x)", 1, lambda x: mpmath.bessely(2, x) if x > 0 else mpmath.nan, (7, 0), "past 3",
                           _table({"inf": 0.0, "0.0": -math.inf, "-0.0": -math.inf}), absolute=(2.2e-6, 5e-12))  # fmt: skip
FUNCTIONS.update({
    "pow": Function("pow{f}(x, y)", 2, mpmath.power, (4, 2)),
    "atan2": Function("atan2{f}(x, y)", 2, mpmath.atan2, (3, 2)),
    "hypot": Function("hypot{f}(x, y)", 2, _norm, (3, 2)),
    "rhypot": Function("rhypot{f}(x, y)", 2, lambda *x: 1 / _norm(*x), (2, 1), special=_special_rnorm),
    "norm3d": Function("norm3d{f}(x, y, z)", 3, _norm, (3, 2), special=_special_norm),
    "rnorm3d": Function("rnorm3d{f}(x, y, z)", 3, lambda *x: 1 / _norm(*x), (2, 1), special=_special_rnorm),
    "norm4d": Function("norm4d{f}(x, y, z, w)", 4, _norm, (3, 2), special=_special_norm),
    "rnorm4d": Function("rnorm4d{f}(x, y, z, w)", 4, lambda *x: 1 / _norm(*x), (2, 1), special=_special_rnorm),
    # For an arbitrary number of arguments the guide gives no bound. For three arguments, the bound of norm
    # here is the bound of norm3d, and the bound of rnorm is the bound of rnorm3d plus one.
    "norm": Function("({T p[3] = {x, y, z}; norm{f}(3, p);})", 3, _norm, (3, 2), special=_special_norm),
    "rnorm": Function("({T p[3] = {x, y, z}; rnorm{f}(3, p);})", 3, lambda *x: 1 / _norm(*x), (3, 2), special=_special_rnorm),
    "sincos": Function("({T s, c; sincos{f}(x, &s, &c); s;})", 1, mpmath.sin, (2, 2), c_name="sin"),
    "sincos, cos": Function("({T s, c; sincos{f}(x, &s, &c); c;})", 1, mpmath.cos, (2, 2), c_name="cos"),
    "sincospi": Function("({T s, c; sincospi{f}(x, &s, &c); s;})", 1, mpmath.sinpi, (1, 2), special=_periodic(lambda x: x)),
    "sincospi, cos": Function("({T s, c; sincospi{f}(x, &s, &c); c;})", 1, mpmath.cospi, (1, 2), special=_periodic(lambda x: 1.0)),
    "fdivide": Function("fdivide{f}(x, y)", 2, lambda x, y: x / y, (2, 0), "divisor", special=lambda x, y: _divided(x, y)),
    "operator/": Function("x / y", 2, lambda x, y: x / y, (0, 0), special=lambda x, y: _divided(x, y)),
})  # fmt: skip


def _divided(x, y):
    if y == 0:
        return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)
    return x / y


# Exact functions, whose results equal the C library's results.
for _name in ("fabs", "sqrt", "floor", "ceil", "trunc", "round", "rint", "nearbyint", "logb"):
    FUNCTIONS[_name] = Function(f"{_name}{{f}}(x)", 1)
for _name in ("fmin", "fmax", "fmod", "remainder", "fdim", "copysign", "nextafter"):
    FUNCTIONS[_name] = Function(f"{_name}{{f}}(x, y)", 2)
FUNCTIONS["fma"] = Function("fma{f}(x, y, z)", 3)


def _frexp(fmt, x):
    return math.frexp(x)


def _remquo(fmt, x, y):
    function = c_function("remquo", fmt, "xx")
    function.argtypes = [*function.argtypes, ctypes.POINTER(ctypes.c_int)]
    quotient = ctypes.c_int()
    value = function(x, y, ctypes.byref(quotient))
    return value, quotient.value


def _integer(name, fmt, x):
    """Returns the reference of lround() and similar functions, for results that fit into the result's type."""
    function = getattr(_LIBM, name + fmt.suffix)
    function.restype = ctypes.c_int if name == "ilogb" else ctypes.c_longlong
    function.argtypes = [ctypes.c_float if fmt is FLOAT else ctypes.c_double]
    return function(x)


def _scaled(fmt, x, n):
    function = getattr(_LIBM, "ldexp" + fmt.suffix)
    kind = ctypes.c_float if fmt is FLOAT else ctypes.c_double
    function.restype, function.argtypes = kind, [kind, ctypes.c_int]
    return function(x, n)


# name: expression, arity, C++ type of the result, reference of (format, arguments), inputs. Results must be
# equal.
EQUAL = {
    "frexp": ("({int n; frexp{f}(x, &n);})", 1, "", lambda fmt, x: _frexp(fmt, x)[0], "wide"),
    "frexp, exponent": ("({int n; frexp{f}(x, &n); n;})", 1, "int", lambda fmt, x: _frexp(fmt, x)[1], "finite"),
    "modf": ("({T n; modf{f}(x, &n);})", 1, "", lambda fmt, x: math.copysign(math.modf(x)[0], x), "wide"),
    "modf, whole": ("({T n; modf{f}(x, &n); n;})", 1, "", lambda fmt, x: math.modf(x)[1], "wide"),
    "remquo": ("({int n; remquo{f}(x, y, &n);})", 2, "", lambda fmt, x, y: _remquo(fmt, x, y)[0], "wide"),
    "remquo, quotient": ("({int n; remquo{f}(x, y, &n); n % 8;})", 2, "int",
                         lambda fmt, x, y: int(math.fmod(_remquo(fmt, x, y)[1], 8)), "nonzero"),
    "ldexp": ("ldexp{f}(x, 3)", 1, "", lambda fmt, x: _scaled(fmt, x, 3), "wide"),
    "ldexp, down": ("ldexp{f}(x, -900)", 1, "", lambda fmt, x: _scaled(fmt, x, -900), "wide"),
    "scalbn": ("scalbn{f}(x, -30)", 1, "", lambda fmt, x: _scaled(fmt, x, -30), "wide"),
    "scalbln": ("scalbln{f}(x, 70L)", 1, "", lambda fmt, x: _scaled(fmt, x, 70), "wide"),
    "ilogb": ("ilogb{f}(x)", 1, "int", lambda fmt, x: _integer("ilogb", fmt, x), "finite"),
    "lround": ("lround{f}(x)", 1, "long long", lambda fmt, x: _integer("lround", fmt, x), "whole"),
    "llround": ("llround{f}(x)", 1, "long long", lambda fmt, x: _integer("llround", fmt, x), "whole"),
    "lrint": ("lrint{f}(x)", 1, "long long", lambda fmt, x: _integer("lrint", fmt, x), "whole"),
    "llrint": ("llrint{f}(x)", 1, "long long", lambda fmt, x: _integer("llrint", fmt, x), "whole"),
    "isnan": ("isnan(x)", 1, "int", lambda fmt, x: int(math.isnan(x)), "wide"),
    "isinf": ("isinf(x) != 0", 1, "int", lambda fmt, x: int(math.isinf(x)), "wide"),
    "isfinite": ("isfinite(x)", 1, "int", lambda fmt, x: int(math.isfinite(x)), "wide"),
    "signbit": ("signbit(x) != 0", 1, "int", lambda fmt, x: int(math.copysign(1, x) < 0), "wide"),
    "nan": ('nan{f}("")', 1, "", lambda fmt, x: math.nan, "whole"),
}  # fmt: skip

# Operations with an intrinsic for each rounding mode: {name without the mode: (number of arguments, reference)}.
OPERATIONS = {
    "add": (2, lambda x, y: x + y), "sub": (2, lambda x, y: x - y), "mul": (2, lambda x, y: x * y), "div": (2, lambda x, y: x / y),
    "fma": (3, lambda x, y, z: x * y + z), "rcp": (1, lambda x: 1 / x), "sqrt": (1, mpmath.sqrt),
}  # fmt: skip


def intrinsic(operation, fmt, mode):
    """Returns the name of the intrinsic; mode is "n", "z", "u" or "d"."""
    if operation == "fma":
        return f"__fmaf_r{mode}" if fmt is FLOAT else f"__fma_r{mode}"
    return f"__{'f' if fmt is FLOAT else 'd'}{operation}_r{mode}"


def _near_one(ulp, absolute):
    """Returns the bound of a logarithm, which is absolute for arguments of 0.5 to 2."""
    return lambda x, expected: (0, absolute) if 0.5 <= x <= 2 else (ulp, 0.0)


def _absolute(bound):
    return lambda x, expected: (0, bound)


def _of_power(x, y, expected):
    """Returns the bound of __powf(), which computes exp2(y * log2(x)): y multiplies the errors of x and of log2(x)."""
    return 3 + 2 * abs(y * (abs(math.log2(x)) + 1)), 0.0


# Fast intrinsics of float: expression, reference, function of the arguments and the correctly rounded result that
# returns the permitted differences [ulp, absolute], inputs. Source: the table of intrinsics in the guide.
FAST = {
    "__expf": ("__expf(x)", mpmath.exp, lambda x, exact: (2 + math.floor(abs(1.173 * x)), 0.0), "exponent"),
    "__exp10f": ("__exp10f(x)", lambda x: mpmath.power(10, x), lambda x, exact: (2 + math.floor(abs(2.97 * x)), 0.0), "exponent"),
    "__logf": ("__logf(x)", mpmath.log, _near_one(3, 2 ** -21.41), "positive"),
    "__log2f": ("__log2f(x)", lambda x: mpmath.log(x, 2), _near_one(2, 2 ** -22), "positive"),
    "__log10f": ("__log10f(x)", mpmath.log10, _near_one(3, 2 ** -24), "positive"),
    "__sinf": ("__sinf(x)", mpmath.sin, _absolute(2 ** -21.41), "circle"),
    "__cosf": ("__cosf(x)", mpmath.cos, _absolute(2 ** -21.19), "circle"),
    "__sincosf": ("({T s, c; __sincosf(x, &s, &c); s;})", mpmath.sin, _absolute(2 ** -21.41), "circle"),
    "__sincosf, cos": ("({T s, c; __sincosf(x, &s, &c); c;})", mpmath.cos, _absolute(2 ** -21.19), "circle"),
    # __tanf computes the quotient of __sinf and __cosf.
    "__tanf": ("__tanf(x)", mpmath.tan, lambda x, exact: (4, 2 ** -21 * (1 + abs(exact)) / abs(math.cos(x))), "circle"),
    "__tanhf": ("__tanhf(x)", mpmath.tanh, lambda x, exact: (0, 2 ** -10.987 * abs(exact)), "circle"),  # relative
    "__saturatef": ("__saturatef(x)", lambda x: min(max(x, mp.mpf(0)), mp.mpf(1)), _absolute(0.0), "circle"),
    "__frsqrt_rn": ("__frsqrt_rn(x)", lambda x: 1 / mpmath.sqrt(x), _absolute(0.0), "positive"),
    "__fdividef": ("__fdividef(x, y)", lambda x, y: x / y, lambda x, y, exact: (2, 0.0), "divisor"),
    "__powf": ("__powf(x, y)", mpmath.power, _of_power, "base"),
}  # fmt: skip

# Names in the header that need no row, because another row tests the function (the value is the tested name), or
# because the name is not a function of floats in device code.
OTHER_NAMES = {
    "fdividef": "fdivide",
    "__isinff": "isinf", "__isnanf": "isnan", "__isfinited": "isfinite", "__isfinitef": "isfinite", "__signbitd": "signbit",
    "__isnand": "isnan", "__isinfd": "isinf", "__finite": "isfinite", "__finitef": "isfinite", "__signbit": "signbit",
    "__isnan": "isnan", "__isinf": "isinf", "__signbitf": "signbit", "modff": "modf", "nanf": "nan",
}  # fmt: skip
