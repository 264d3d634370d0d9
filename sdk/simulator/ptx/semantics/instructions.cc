// SPDX-License-Identifier: Apache-2.0
// Which family decodes an instruction of this name.
#include "ptx/semantics/instructions.h"

namespace kernkit::simulator::ptx {

namespace {

struct Named {
  const char* name;
  Family family;
};

constexpr Named kFamilies[] = {
    {"abs", abs},
    {"activemask", activemask},
    {"add", add},
    {"addc", carry},
    {"and", logic},
    {"atom", atom},
    {"bar", bar},
    {"barrier", bar},
    {"bfe", bfe},
    {"bfi", bfi},
    {"bfind", bfind},
    {"bmsk", bmsk},
    {"bra", bra},
    {"brev", brev},
    {"brx", brx},
    {"call", call},
    {"clz", clz},
    {"cnot", cnot},
    {"copysign", copysign},
    {"cos", cos},
    {"cp", cp},
    {"cvt", cvt},
    {"cvta", cvta},
    {"discard", hint},
    {"div", div},
    {"dp2a", dot},
    {"dp4a", dot},
    {"elect", elect},
    {"ex2", ex2},
    {"exit", exit},
    {"fence", fence},
    {"fma", fma},
    {"fns", fns},
    {"griddepcontrol", hint},
    {"isspacep", isspacep},
    {"ld", load},
    {"ldu", load},
    {"ldmatrix", ldmatrix},
    {"lg2", lg2},
    {"lop3", lop3},
    {"mad", mad},
    {"mad24", mad24},
    {"madc", carry},
    {"mapa", mapa},
    {"match", match},
    {"max", max},
    {"membar", fence},
    {"min", min},
    {"mov", mov},
    {"mma", mma},
    {"mul", mul},
    {"mul24", mul24},
    {"nanosleep", nanosleep},
    {"neg", neg},
    {"not", logic},
    {"or", logic},
    {"popc", popc},
    {"prefetch", hint},
    {"prefetchu", hint},
    {"prmt", prmt},
    {"rcp", rcp},
    {"red", atom},
    {"redux", redux},
    {"rem", rem},
    {"ret", ret},
    {"rsqrt", rsqrt},
    {"sad", sad},
    {"selp", selp},
    {"set", set},
    {"setp", setp},
    {"shf", shf},
    {"shfl", shfl},
    {"shl", shl},
    {"shr", shr},
    {"sin", sin},
    {"slct", slct},
    {"sqrt", sqrt},
    {"st", store},
    {"stmatrix", stmatrix},
    {"sub", sub},
    {"subc", carry},
    {"tanh", tanh},
    {"testp", testp},
    {"trap", trap},
    {"vote", vote},
    {"wmma", wmma},
    {"xor", logic},
};

}  // namespace

Family family_of(std::string_view name) {
  for (const Named& one : kFamilies) {
    if (name == one.name) return one.family;
  }
  return nullptr;
}

}  // namespace kernkit::simulator::ptx
