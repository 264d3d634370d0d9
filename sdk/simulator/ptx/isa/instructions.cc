// SPDX-License-Identifier: Apache-2.0
// The instruction table: every form of a PTX instruction that the simulator executes. Instruction
// (instruction.h) explains the notation of modifiers; find_instruction.cc has the sets of
// modifiers, such as "%int". The titles come from the sections of the PTX ISA, chapter "Instruction
// Set".
#include <iterator>

#include "ptx/isa/instruction.h"
#include "ptx/isa/semantics.h"

namespace kernkit::simulator::ptx {
namespace {

// Integer Arithmetic Instructions
constexpr Instruction kIntegerArithmetic[] = {
    Instruction("add", "%int", add)
        .defines(Definedness::kUpwards)
        .flows(AddressFlow::kEither)
        .simd(Simd::kIntegers),
    Instruction("add", "u16x2|s16x2", add).defines(Definedness::kHalves),
    Instruction("add", "sat s32", add).flows(AddressFlow::kEither),
    Instruction("sub", "%int", sub)
        .defines(Definedness::kUpwards)
        .flows(AddressFlow::kDifference)
        .simd(Simd::kIntegers),
    Instruction("sub", "sat s32", sub).flows(AddressFlow::kDifference),
    Instruction("mul", "lo %int", mul).defines(Definedness::kUpwards).simd(Simd::kIntegers),
    Instruction("mul", "wide u16|s16|u32|s32", mul)
        .defines(Definedness::kUpwards)
        .simd(Simd::kIntegers),
    Instruction("mul", "hi %int", mul).simd(Simd::kIntegers),
    Instruction("mad", "lo %int", mad)
        .defines(Definedness::kUpwards)
        .flows(AddressFlow::kThird)
        .simd(Simd::kIntegers),
    Instruction("mad", "wide u16|s16|u32|s32", mad)
        .defines(Definedness::kUpwards)
        .flows(AddressFlow::kThird)
        .simd(Simd::kIntegers),
    Instruction("mad", "hi %int", mad).flows(AddressFlow::kThird),
    Instruction("mad", "hi sat s32", mad).flows(AddressFlow::kThird),
    Instruction("mul24", "lo|hi u32|s32", mul24),
    Instruction("mad24", "lo|hi u32|s32", mad24),
    Instruction("mad24", "hi sat s32", mad24),
    Instruction("sad", "%int", sad),
    Instruction("div", "%int", div),
    Instruction("rem", "%int", rem),
    Instruction("abs", "%signed", abs).simd(Simd::kIntegers),
    Instruction("neg", "%signed", neg).defines(Definedness::kUpwards).simd(Simd::kIntegers),
    Instruction("min", "%int", min).simd(Simd::kIntegers),
    Instruction("min", "relu s32", min),
    Instruction("min", "u16x2", min).defines(Definedness::kHalves),
    Instruction("min", "relu? s16x2", min).defines(Definedness::kHalves),
    Instruction("max", "%int", max).simd(Simd::kIntegers),
    Instruction("max", "relu s32", max),
    Instruction("max", "u16x2", max).defines(Definedness::kHalves),
    Instruction("max", "relu? s16x2", max).defines(Definedness::kHalves),
    Instruction("popc", "b32|b64", popc),
    Instruction("clz", "b32|b64", clz),
    Instruction("bfind", "shiftamt? u32|s32|u64|s64", bfind),
    Instruction("fns", "b32", fns),
    // [row]
    Instruction("brev", "b32|b64", brev).moves(kFirstSource),
    // [/row]
    Instruction("bfe", "u32|s32|u64|s64", bfe).moves(kFirstSource).simd(Simd::kIntegers),
    Instruction("bfi", "b32|b64", bfi).moves(kFirstSource | kSecondSource).simd(Simd::kIntegers),
    Instruction("szext", "clamp|wrap u32|s32", szext),
    Instruction("bmsk", "clamp|wrap b32", bmsk),
    Instruction("dp4a", "u32|s32 u32|s32", dot),
    Instruction("dp2a", "lo|hi u32|s32 u32|s32", dot),
};

// Extended-Precision Integer Arithmetic Instructions
constexpr Instruction kExtendedPrecisionIntegerArithmetic[] = {
    Instruction("add", "cc u32|s32|u64|s64", carry).flows(AddressFlow::kEither),
    Instruction("addc", "cc? u32|s32|u64|s64", carry),
    Instruction("sub", "cc u32|s32|u64|s64", carry).flows(AddressFlow::kDifference),
    Instruction("subc", "cc? u32|s32|u64|s64", carry),
    Instruction("mad", "lo|hi cc u32|s32|u64|s64", carry).flows(AddressFlow::kThird),
    Instruction("madc", "lo|hi cc? u32|s32|u64|s64", carry),
    Instruction("madc", "hi sat s32", carry),
};

// Floating-Point Instructions
constexpr Instruction kFloatingPoint[] = {
    Instruction("testp", "finite|infinite|number|notanumber|normal|subnormal f32|f64", testp),
    Instruction("copysign", "f32|f64", copysign),
    Instruction("add", "%rounding? ftz? sat? f32", add).simd(Simd::kReals),
    Instruction("add", "%rounding? f64", add).simd(Simd::kReals),
    Instruction("add", "%rounding? ftz? f32x2", add).defines(Definedness::kWords),
    Instruction("sub", "%rounding? ftz? sat? f32", sub).simd(Simd::kReals),
    Instruction("sub", "%rounding? f64", sub).simd(Simd::kReals),
    Instruction("sub", "%rounding? ftz? f32x2", sub).defines(Definedness::kWords),
    Instruction("mul", "%rounding? ftz? sat? f32", mul).simd(Simd::kReals),
    Instruction("mul", "%rounding? f64", mul).simd(Simd::kReals),
    Instruction("mul", "%rounding? ftz? f32x2", mul).defines(Definedness::kWords),
    Instruction("fma", "%rounding? ftz? sat? f32", fma).simd(Simd::kReals),
    Instruction("fma", "%rounding? f64", fma).simd(Simd::kReals),
    Instruction("fma", "%rounding? ftz? f32x2", fma).defines(Definedness::kWords),
    Instruction("mad", "%rounding ftz? sat? f32", fma).simd(Simd::kReals),
    Instruction("mad", "%rounding f64", fma).simd(Simd::kReals),
    Instruction("mad", "ftz? sat? f32", mad_of_first_devices).simd(Simd::kReals),
    Instruction("div", "%rounding|approx|full ftz? f32", div).simd(Simd::kReals),
    Instruction("div", "%rounding f64", div),
    Instruction("abs", "ftz? f32", abs).simd(Simd::kReals),
    Instruction("abs", "f64", abs),
    Instruction("neg", "ftz? f32", neg).simd(Simd::kReals),
    Instruction("neg", "f64", neg),
    Instruction("min", "ftz? NaN? xorsign? abs? f32", min).simd(Simd::kReals),
    Instruction("min", "f64", min),
    Instruction("max", "ftz? NaN? xorsign? abs? f32", max).simd(Simd::kReals),
    Instruction("max", "f64", max),
    Instruction("rcp", "%rounding|approx ftz? f32", rcp).simd(Simd::kReals),
    Instruction("rcp", "%rounding f64", rcp),
    Instruction("rcp", "approx ftz f64", rcp),
    Instruction("sqrt", "%rounding|approx ftz? f32", sqrt).simd(Simd::kReals),
    Instruction("sqrt", "%rounding f64", sqrt),
    Instruction("rsqrt", "approx ftz? f32", rsqrt).simd(Simd::kReals),
    Instruction("rsqrt", "approx ftz? f64", rsqrt),
    Instruction("sin", "approx ftz? f32", sin),
    Instruction("cos", "approx ftz? f32", cos),
    Instruction("lg2", "approx ftz? f32", lg2),
    Instruction("ex2", "approx ftz? f32", ex2),
    Instruction("tanh", "approx f32", tanh),
};

// Half Precision Floating-Point Instructions
constexpr Instruction kHalfPrecisionFloatingPoint[] = {
    Instruction("add", "~rn? ftz? sat? f16", add),
    Instruction("add", "~rn? ftz? sat? f16x2", add)
        .defines(Definedness::kHalves)
        .simd(Simd::kWarps),
    Instruction("add", "~rn? bf16", add),
    Instruction("add", "~rn? bf16x2", add).defines(Definedness::kHalves).simd(Simd::kWarps),
    Instruction("sub", "~rn? ftz? sat? f16", sub),
    Instruction("sub", "~rn? ftz? sat? f16x2", sub).defines(Definedness::kHalves),
    Instruction("sub", "~rn? bf16", sub),
    Instruction("sub", "~rn? bf16x2", sub).defines(Definedness::kHalves),
    Instruction("mul", "~rn? ftz? sat? f16", mul),
    Instruction("mul", "~rn? ftz? sat? f16x2", mul)
        .defines(Definedness::kHalves)
        .simd(Simd::kWarps),
    Instruction("mul", "~rn? bf16", mul),
    Instruction("mul", "~rn? bf16x2", mul).defines(Definedness::kHalves).simd(Simd::kWarps),
    Instruction("fma", "~rn? ftz? sat|relu? f16", fma),
    Instruction("fma", "~rn? ftz? sat|relu? f16x2", fma).defines(Definedness::kHalves),
    Instruction("fma", "~rn? relu? bf16", fma),
    Instruction("fma", "~rn? relu? bf16x2", fma).defines(Definedness::kHalves).simd(Simd::kWarps),
    Instruction("abs", "ftz? f16", abs),
    Instruction("abs", "bf16", abs),
    Instruction("abs", "ftz? f16x2", abs).defines(Definedness::kHalves),
    Instruction("abs", "bf16x2", abs).defines(Definedness::kHalves),
    Instruction("neg", "ftz? f16", neg),
    Instruction("neg", "bf16", neg),
    Instruction("neg", "ftz? f16x2", neg).defines(Definedness::kHalves),
    Instruction("neg", "bf16x2", neg).defines(Definedness::kHalves),
    Instruction("min", "ftz? NaN? xorsign? abs? f16", min),
    Instruction("min", "NaN? xorsign? abs? bf16", min),
    Instruction("min", "ftz? NaN? xorsign? abs? f16x2", min).defines(Definedness::kHalves),
    Instruction("min", "NaN? xorsign? abs? bf16x2", min).defines(Definedness::kHalves),
    Instruction("max", "ftz? NaN? xorsign? abs? f16", max),
    Instruction("max", "NaN? xorsign? abs? bf16", max),
    Instruction("max", "ftz? NaN? xorsign? abs? f16x2", max).defines(Definedness::kHalves),
    Instruction("max", "NaN? xorsign? abs? bf16x2", max).defines(Definedness::kHalves),
    Instruction("tanh", "approx f16|bf16", tanh),
    Instruction("tanh", "approx f16x2|bf16x2", tanh).defines(Definedness::kHalves),
    Instruction("ex2", "approx f16", ex2),
    Instruction("ex2", "approx f16x2", ex2).defines(Definedness::kHalves),
    Instruction("ex2", "approx ftz bf16", ex2),
    Instruction("ex2", "approx ftz bf16x2", ex2).defines(Definedness::kHalves),
};

// Comparison and Selection Instructions
constexpr Instruction kComparisonAndSelection[] = {
    Instruction("setp", "%order %logic? %int|%bits", setp)
        .defines(Definedness::kCompare)
        .simd(Simd::kIntegers),
    Instruction("setp", "%order_real %logic? ftz? f32", setp)
        .defines(Definedness::kCompare)
        .simd(Simd::kIntegers),
    Instruction("setp", "%order_real %logic? f64|f16|bf16|f16x2|bf16x2", setp)
        .defines(Definedness::kCompare)
        .simd(Simd::kIntegers),
    Instruction("setp", "%order_real %logic? ftz f16|f16x2", setp).defines(Definedness::kCompare),
    Instruction("set", "%order %logic? %set_result %int|%bits", set).defines(Definedness::kCompare),
    Instruction("set", "%order_real %logic? ftz? %set_result f32", set)
        .defines(Definedness::kCompare),
    Instruction("set", "%order_real %logic? %set_result f64|f16|bf16|f16x2|bf16x2", set)
        .defines(Definedness::kCompare),
    Instruction("set", "%order_real %logic? ftz %set_result f16|f16x2", set)
        .defines(Definedness::kCompare),
    Instruction("selp", "%any", selp)
        .defines(Definedness::kSelect)
        .flows(AddressFlow::kSelected)
        .simd(Simd::kIntegers),
    Instruction("slct", "%any s32", slct),
    Instruction("slct", "ftz? %any f32", slct),
};

// Logic and Shift Instructions
constexpr Instruction kLogicAndShift[] = {
    Instruction("and", "%bits|pred", logic).defines(Definedness::kAnd).simd(Simd::kIntegers),
    Instruction("or", "%bits|pred", logic)
        .defines(Definedness::kOr)
        .flows(AddressFlow::kEither)
        .simd(Simd::kIntegers),
    Instruction("xor", "%bits|pred", logic)
        .defines(Definedness::kEach)
        .flows(AddressFlow::kEither)
        .simd(Simd::kIntegers),
    Instruction("not", "%bits|pred", logic).defines(Definedness::kEach).simd(Simd::kIntegers),
    Instruction("cnot", "%bits", cnot),
    Instruction("lop3", "b32", lop3).defines(Definedness::kTable).simd(Simd::kIntegers),
    Instruction("lop3", "or|and b32", lop3),
    Instruction("shf", "l|r wrap|clamp b32", shf)
        .moves(kFirstSource | kSecondSource)
        .simd(Simd::kIntegers),
    Instruction("shl", "%bits", shl).moves(kFirstSource).simd(Simd::kIntegers),
    Instruction("shr", "%bits|%int", shr).moves(kFirstSource).simd(Simd::kIntegers),
};

// Data Movement and Conversion Instructions
constexpr Instruction kDataMovementAndConversion[] = {
    Instruction("mov", "b128", mov).moves(kFirstSource).simd(Simd::kIntegers),
    Instruction("mov", "%any|pred", mov)
        .moves(kFirstSource)
        .flows(AddressFlow::kFirst)
        .simd(Simd::kIntegers),
    Instruction("shfl", "sync up b32|u32|s32|f32", shfl)
        .defines(Definedness::kShuffle)
        .is("__shfl_up_sync")
        .simd(Simd::kWarps),
    Instruction("shfl", "sync down b32|u32|s32|f32", shfl)
        .defines(Definedness::kShuffle)
        .is("__shfl_down_sync")
        .simd(Simd::kWarps),
    Instruction("shfl", "sync bfly b32|u32|s32|f32", shfl)
        .defines(Definedness::kShuffle)
        .is("__shfl_xor_sync")
        .simd(Simd::kWarps),
    Instruction("shfl", "sync idx b32|u32|s32|f32", shfl)
        .defines(Definedness::kShuffle)
        .is("__shfl_sync")
        .simd(Simd::kWarps),
    Instruction("prmt", "b32", prmt).moves(kFirstSource | kSecondSource).simd(Simd::kIntegers),
    Instruction("prmt", "b32 f4e|b4e|rc8|ecl|ecr|rc16", prmt).moves(kFirstSource | kSecondSource),
    Instruction("ld",
                "~weak|volatile|relaxed|acquire? ~mmio? ~%scope? %space? ~nc? ~ca|cg|cs|lu|cv? "
                "~%cache? ~%cache? ~%cache? ~unified? v2|v4|v8? %any",
                load)
        .accesses(AccessKind::kLoad, Definedness::kLoad)
        .simd(Simd::kIntegers),
    Instruction("ld",
                "~weak|volatile|relaxed|acquire? ~mmio? ~%scope? %space? ~nc? ~ca|cg|cs|lu|cv? "
                "~%cache? ~%cache? ~%cache? ~unified? b128",
                load_wide)
        .accesses(AccessKind::kLoad, Definedness::kLoad)
        .simd(Simd::kIntegers),
    Instruction("ldu", "%space? v2|v4? %any", load)
        .accesses(AccessKind::kLoad, Definedness::kLoad)
        .simd(Simd::kIntegers),
    Instruction("st",
                "~weak|volatile|relaxed|release? ~mmio? ~%scope? %space? ~wb|cg|cs|wt? ~%cache? "
                "~%cache? ~%cache? v2|v4|v8? %any",
                store)
        .accesses(AccessKind::kStore, Definedness::kStore)
        .simd(Simd::kIntegers),
    Instruction("st",
                "~weak|volatile|relaxed|release? ~mmio? ~%scope? %space? ~wb|cg|cs|wt? ~%cache? "
                "~%cache? ~%cache? b128",
                store_wide)
        .accesses(AccessKind::kStore, Definedness::kStore)
        .simd(Simd::kIntegers),
    Instruction("prefetch", "~global|local? ~L1|L2|L2::*", hint),
    Instruction("prefetch", "param|const? ~tensormap", prefetch_map),
    Instruction("prefetchu", "~L1", hint),
    Instruction("applypriority", "~global? ~L2::evict_normal", hint),
    Instruction("discard", "~global? ~L2", hint),
    Instruction("createpolicy", "fractional ~L2::* ~L2::*? b64", createpolicy),
    Instruction("createpolicy", "range global? ~L2::* ~L2::*? b64", createpolicy),
    Instruction("createpolicy", "cvt ~L2 b64", createpolicy).moves(kFirstSource),
    Instruction("isspacep", "global|shared|shared::cta|shared::cluster|local|param|param::entry",
                isspacep),
    Instruction("cvta", "to? global|const|param|local|shared|shared::cta|shared::cluster u64", cvta)
        .defines(Definedness::kEach)
        .flows(AddressFlow::kFirst)
        .simd(Simd::kIntegers),
    Instruction("mapa", "shared::cluster? u32|u64", mapa),
    Instruction("getctarank", "shared::cluster? u32|u64", getctarank),
    Instruction("cvt", "%int|u8|s8 %int|u8|s8", cvt)
        .moves(kFirstSource)
        .flows(AddressFlow::kFirst)
        .simd(Simd::kIntegers),
    Instruction("cvt", "sat %int|u8|s8 %int|u8|s8", cvt).flows(AddressFlow::kFirst),
    Instruction("cvt", "pack sat u16|s16 s32", cvt_pack),
    Instruction("cvt", "pack sat u8|s8|u4|s4|u2|s2 s32 b32", cvt_pack),
    Instruction("cvt", "rn relu? f16x2|bf16x2 f32", cvt)
        .defines(Definedness::kNarrows)
        .flows(AddressFlow::kFirst)
        .simd(Simd::kIntegers),
    Instruction("cvt", "rn|rz relu? satfinite? f16x2|bf16x2 f32", cvt)
        .defines(Definedness::kNarrows)
        .flows(AddressFlow::kFirst),
    Instruction("cvt", "rn relu? satfinite e4m3x2|e5m2x2 f32", cvt)
        .defines(Definedness::kNarrows)
        .flows(AddressFlow::kFirst),
    Instruction("cvt", "rn relu? satfinite e4m3x2|e5m2x2 f16x2", cvt).flows(AddressFlow::kFirst),
    Instruction("cvt", "rn relu? f16x2 e4m3x2|e5m2x2", cvt)
        .defines(Definedness::kWidens)
        .flows(AddressFlow::kFirst),
    Instruction("cvt", "rna|rn|rz relu? satfinite? tf32 f32", cvt).flows(AddressFlow::kFirst),
    Instruction("cvt",
                "%rounding|rni|rzi|rmi|rpi? ftz? sat? f16|bf16|f32|f64|%int|u8|s8 f16|bf16|f32|f64",
                cvt)
        .flows(AddressFlow::kFirst)
        .simd(Simd::kIntegers),
    Instruction("cvt", "rn|rz relu? satfinite? f16|bf16 f32", cvt).flows(AddressFlow::kFirst),
};

// Asynchronous Copy Instructions
constexpr Instruction kAsynchronousCopy[] = {
    Instruction("cp", "async ca|cg shared|shared::cta global ~L2::*? ~L2::*?", cp)
        .accesses(AccessKind::kCopy, Definedness::kCopy),
    Instruction("cp", "async commit_group", cp).defines(Definedness::kCommit),
    Instruction("cp", "async wait_group", cp).defines(Definedness::kWait),
    Instruction("cp", "async wait_all", cp).defines(Definedness::kWaitAll),
    Instruction("cp", "async mbarrier arrive noinc? shared|shared::cta? b64", arrive_of_copies)
        .accesses(AccessKind::kAtomic, Definedness::kArrive)
        .orders("release", "cta"),
    Instruction("cp",
                "async bulk shared::cluster|shared::cta global ~mbarrier::complete_tx::bytes "
                "multicast::cluster? L2::cache_hint?",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp", "async bulk shared::cluster ~shared::cta ~mbarrier::complete_tx::bytes",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp", "async bulk global ~shared::cta bulk_group L2::cache_hint?", bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp",
                "reduce async bulk shared::cluster ~shared::cta ~mbarrier::complete_tx::bytes "
                "and|or|xor b32",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp",
                "reduce async bulk shared::cluster ~shared::cta ~mbarrier::complete_tx::bytes "
                "add|min|max u32|s32",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp",
                "reduce async bulk shared::cluster ~shared::cta ~mbarrier::complete_tx::bytes "
                "inc|dec u32",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp",
                "reduce async bulk shared::cluster ~shared::cta ~mbarrier::complete_tx::bytes "
                "add u64",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction(
        "cp",
        "reduce async bulk global ~shared::cta bulk_group L2::cache_hint? %reduction noftz? "
        "u32|s32|u64|s64|b32|b64|f16|bf16|f32|f64",
        bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp",
                "async bulk tensor %dimensions shared::cluster|shared::cta global ~tile? "
                "~mbarrier::complete_tx::bytes multicast::cluster? L2::cache_hint?",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp",
                "async bulk tensor %dimensions global ~shared::cta ~tile? bulk_group "
                "L2::cache_hint?",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp",
                "reduce async bulk tensor %dimensions global ~shared::cta %reduction ~tile? "
                "bulk_group L2::cache_hint?",
                bulk_copy)
        .has(Effect::kIssuesCopies),
    Instruction("cp", "~async ~bulk ~prefetch ~L2 ~global ~L2::cache_hint?", hint),
    Instruction("cp",
                "~async ~bulk ~prefetch ~tensor ~%dimensions ~L2 ~global ~tile? ~L2::cache_hint?",
                hint),
    Instruction("st",
                "async weak? shared::cluster? ~mbarrier::complete_tx::bytes v2|v4? %async_type",
                async_store)
        .has(Effect::kIssuesCopies),
    Instruction("red",
                "async ~relaxed ~cluster shared::cluster? ~mbarrier::complete_tx::bytes %reduction "
                "u32|s32|u64|b32",
                async_store)
        .has(Effect::kIssuesCopies),
    Instruction("tensormap", "replace tile %map_element|%map_value global|shared::cta? b1024 b32",
                tensor_map)
        .accesses(AccessKind::kStore, Definedness::kStore),
    Instruction("tensormap",
                "replace tile global_address|global_stride global|shared::cta? b1024 b64",
                tensor_map)
        .accesses(AccessKind::kStore, Definedness::kStore),
    Instruction("tensormap",
                "cp_fenceproxy ~global ~shared::cta ~tensormap::generic ~release ~%scope sync "
                "aligned",
                tensor_map)
        .has(Effect::kFence),
    Instruction("cp", "async bulk commit_group", bulk_copy).has(Effect::kCommitsCopies),
    Instruction("cp", "async bulk wait_group read?", bulk_copy).has(Effect::kWaitsForCopies),
};

// Control Flow Instructions
constexpr Instruction kControlFlow[] = {
    Instruction("bra", "~uni?", bra),
    Instruction("brx", "idx ~uni?", brx),
    Instruction("call", "~uni?", call).defines(Definedness::kReturn).has(Effect::kCall),
    Instruction("ret", "~uni?", ret),
    Instruction("exit", "", exit),
};

// Parallel Synchronization and Communication Instructions
constexpr Instruction kParallelSynchronizationAndCommunication[] = {
    Instruction("bar", "~cta? sync ~aligned?", bar).is("__syncthreads"),
    Instruction("barrier", "~cta? sync ~aligned?", bar),
    Instruction("bar", "~cta? arrive ~aligned?", bar),
    Instruction("bar", "~cta? red popc ~aligned? u32", bar).is("__syncthreads_count"),
    Instruction("bar", "~cta? red and ~aligned? pred", bar).is("__syncthreads_and"),
    Instruction("bar", "~cta? red or ~aligned? pred", bar).is("__syncthreads_or"),
    Instruction("barrier", "~cta? arrive ~aligned?", bar),
    Instruction("barrier", "~cta? red popc ~aligned? u32", bar),
    Instruction("barrier", "~cta? red and ~aligned? pred", bar),
    Instruction("barrier", "~cta? red or ~aligned? pred", bar),
    Instruction("bar", "warp sync", bar).is("__syncwarp"),
    Instruction("barrier", "cluster arrive ~release|relaxed? ~aligned?", bar),
    Instruction("barrier", "cluster wait ~acquire? ~aligned?", bar),
    Instruction("membar", "~cta|gl|sys", fence).has(Effect::kFence),
    Instruction("membar", "~proxy ~alias", fence).has(Effect::kFence),
    Instruction("fence", "~proxy ~alias", fence).has(Effect::kFence),
    Instruction("fence", "~sc|acq_rel|acquire|release? ~%scope", fence).has(Effect::kFence),
    Instruction("fence", "~proxy ~tensormap::generic ~acquire|release ~%scope", fence_of_maps)
        .has(Effect::kFence),
    Instruction("fence", "~mbarrier_init ~release ~cluster", hint).has(Effect::kFencesInits),
    Instruction("fence", "~proxy ~async global|shared::cta|shared::cluster?", proxy_fence)
        .has(Effect::kFencesProxies),
    Instruction("mbarrier", "init shared|shared::cta? b64", mbarrier)
        .accesses(AccessKind::kStore, Definedness::kStore),
    Instruction("mbarrier", "inval shared|shared::cta? b64", mbarrier)
        .accesses(AccessKind::kStore, Definedness::kStore),
    Instruction("mbarrier", "expect_tx|complete_tx ~relaxed? ~cta|cluster? %shared? b64", mbarrier)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic)
        .orders("relaxed", "cta"),
    Instruction("mbarrier",
                "arrive|arrive_drop expect_tx|noComplete? ~release|relaxed? ~cta|cluster? %shared? "
                "b64",
                mbarrier)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic)
        .orders("release", "cta"),
    Instruction("mbarrier",
                "test_wait|try_wait parity? ~acquire|relaxed? ~cta|cluster? shared|shared::cta? "
                "b64",
                mbarrier)
        .accesses(AccessKind::kLoad, Definedness::kAtomic)
        .orders("acquire", "cta"),
    Instruction("mbarrier", "pending_count b64", mbarrier),
    Instruction("atom", "~%atomic_order? ~%scope? %space? ~L2::*? add u32|s32|u64|s64|f32|f64",
                atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom", "~%atomic_order? ~%scope? %space? ~L2::*? add noftz f16|bf16|f16x2|bf16x2",
                atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom", "~%atomic_order? ~%scope? global? ~L2::*? add v2|v4 f32", vector_atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom",
                "~%atomic_order? ~%scope? global? ~L2::*? add|min|max noftz v2|v4|v8 f16|bf16",
                vector_atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom",
                "~%atomic_order? ~%scope? global? ~L2::*? add|min|max noftz v2|v4 f16x2|bf16x2",
                vector_atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom", "~%atomic_order? ~%scope? %space? ~L2::*? min|max u32|s32|u64|s64", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom", "~%atomic_order? ~%scope? %space? ~L2::*? inc|dec u32", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom", "~%atomic_order? ~%scope? %space? ~L2::*? and|or|xor b32|b64", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("atom", "~%atomic_order? ~%scope? %space? ~L2::*? exch b16|b32|b64|b128", atom)
        .accesses(AccessKind::kAtomic, Definedness::kExchange),
    Instruction("atom", "~%atomic_order? ~%scope? %space? cas b16|b32|b64|b128", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red", "~%atomic_order? ~%scope? %space? ~L2::*? add u32|s32|u64|s64|f32|f64", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red", "~%atomic_order? ~%scope? %space? ~L2::*? add noftz f16|bf16|f16x2|bf16x2",
                atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red", "~%atomic_order? ~%scope? global? ~L2::*? add v2|v4 f32", vector_atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red",
                "~%atomic_order? ~%scope? global? ~L2::*? add|min|max noftz v2|v4|v8 f16|bf16",
                vector_atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red",
                "~%atomic_order? ~%scope? global? ~L2::*? add|min|max noftz v2|v4 f16x2|bf16x2",
                vector_atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red", "~%atomic_order? ~%scope? %space? ~L2::*? min|max u32|s32|u64|s64", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red", "~%atomic_order? ~%scope? %space? ~L2::*? inc|dec u32", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("red", "~%atomic_order? ~%scope? %space? ~L2::*? and|or|xor b32|b64", atom)
        .accesses(AccessKind::kAtomic, Definedness::kAtomic),
    Instruction("vote", "sync ballot b32", vote).defines(Definedness::kBallot).is("__ballot_sync"),
    Instruction("vote", "sync any pred", vote).defines(Definedness::kVote).is("__any_sync"),
    Instruction("vote", "sync all pred", vote).defines(Definedness::kVote).is("__all_sync"),
    Instruction("vote", "sync uni pred", vote).defines(Definedness::kVote),
    Instruction("match", "any sync b32|b64", match)
        .defines(Definedness::kWarp)
        .is("__match_any_sync"),
    Instruction("match", "all sync b32|b64", match)
        .defines(Definedness::kWarp)
        .is("__match_all_sync"),
    Instruction("activemask", "b32", activemask),
    Instruction("redux", "sync add u32|s32", redux)
        .defines(Definedness::kWarp)
        .is("__reduce_add_sync"),
    Instruction("redux", "sync min u32|s32", redux)
        .defines(Definedness::kWarp)
        .is("__reduce_min_sync"),
    Instruction("redux", "sync max u32|s32", redux)
        .defines(Definedness::kWarp)
        .is("__reduce_max_sync"),
    Instruction("redux", "sync min abs? NaN? f32", redux)
        .defines(Definedness::kWarp)
        .is("__reduce_min_sync"),
    Instruction("redux", "sync max abs? NaN? f32", redux)
        .defines(Definedness::kWarp)
        .is("__reduce_max_sync"),
    Instruction("redux", "sync and b32", redux).defines(Definedness::kWarp).is("__reduce_and_sync"),
    Instruction("redux", "sync or b32", redux).defines(Definedness::kWarp).is("__reduce_or_sync"),
    Instruction("redux", "sync xor b32", redux).defines(Definedness::kWarp).is("__reduce_xor_sync"),
    Instruction("griddepcontrol", "~wait", hint).has(Effect::kWaitsForGrids),
    Instruction("griddepcontrol", "~launch_dependents", hint).has(Effect::kReleasesGrids),
    Instruction("elect", "sync", elect),
};

// Warp Level Matrix Multiply-Accumulate Instructions
constexpr Instruction kWarpLevelMatrixMultiplyAccumulate[] = {
    Instruction("wmma", "load a|b|c sync aligned row|col %wmma_shape %space? %factor|f32|s32", wmma)
        .accesses(AccessKind::kLoad, Definedness::kFragment),
    Instruction("wmma", "store d sync aligned row|col %wmma_shape %space? %sum", wmma)
        .accesses(AccessKind::kStore, Definedness::kFragment),
    Instruction("wmma", "mma sync aligned row|col row|col %wmma_shape satfinite? %sum %sum", wmma)
        .defines(Definedness::kProduct)
        .simd(Simd::kMatrices),
    Instruction("wmma",
                "mma sync aligned row|col row|col %wmma_shape satfinite? %sum %factor %factor %sum",
                wmma)
        .defines(Definedness::kProduct)
        .simd(Simd::kMatrices),
    Instruction("wmma", "mma sync aligned row|col row|col m8n8k4 %rounding f64 f64 f64 f64", wmma)
        .defines(Definedness::kProduct),
    Instruction("wmma", "mma xor|and popc sync aligned row col m8n8k128 s32 b1 b1 s32", wmma)
        .defines(Definedness::kProduct),
    Instruction("mma", "sync aligned %mma_shape row col satfinite? %sum %factor %factor %sum", mma)
        .defines(Definedness::kProduct)
        .simd(Simd::kMatrices),
    Instruction("mma", "sync aligned %mma_shape_f64 row col %rounding f64 f64 f64 f64", mma)
        .defines(Definedness::kProduct),
    Instruction("mma", "sync aligned %mma_shape_b1 row col s32 b1 b1 s32 xor|and popc", mma)
        .defines(Definedness::kProduct),
    Instruction("movmatrix", "sync aligned m8n8 trans b16", movmatrix).moves(kFirstSource),
    Instruction("ldmatrix", "sync aligned m8n8 x1|x2|x4 trans? %space? b16", ldmatrix)
        .accesses(AccessKind::kLoad, Definedness::kMatrix),
    Instruction("stmatrix", "sync aligned m8n8 x1|x2|x4 trans? %space? b16", stmatrix)
        .accesses(AccessKind::kStore, Definedness::kMatrix),
};

// Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions
constexpr Instruction kWarpgroupLevelMatrixMultiplyAccumulate[] = {
    Instruction("wgmma", "mma_async sync aligned %wgmma_shape f16|f32 %factor %factor", wgmma)
        .defines(Definedness::kSums)
        .has(Effect::kIssuesProducts)
        .simd(Simd::kMatrices),
    Instruction("wgmma", "mma_async sync aligned %wgmma_shape satfinite? s32 s8|u8 s8|u8", wgmma)
        .defines(Definedness::kSums)
        .has(Effect::kIssuesProducts),
    Instruction("wgmma", "mma_async sync aligned %wgmma_shape s32 b1 b1 and popc", wgmma)
        .defines(Definedness::kSums)
        .has(Effect::kIssuesProducts),
    Instruction("wgmma", "fence sync aligned", wgmma).has(Effect::kFencesProducts),
    Instruction("wgmma", "commit_group sync aligned", wgmma).has(Effect::kCommitsProducts),
    Instruction("wgmma", "wait_group sync aligned", wgmma).has(Effect::kWaitsForProducts),
};

// Video Instructions
constexpr Instruction kVideo[] = {
    Instruction("vadd2", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vsub2", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vavrg2", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vabsdiff2", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vmin2", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vmax2", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vadd4", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vsub4", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vavrg4", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vabsdiff4", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vmin4", "u32|s32 u32|s32 u32|s32 sat|add?", video),
    Instruction("vmax4", "u32|s32 u32|s32 u32|s32 sat|add?", video),
};

// Miscellaneous Instructions
constexpr Instruction kMiscellaneous[] = {
    Instruction("pmevent", "~mask?", hint),
    Instruction("trap", "", trap),
    Instruction("brkpt", "", brkpt),
    Instruction("nanosleep", "~u32", nanosleep),
    Instruction("setmaxnreg", "~inc|dec ~sync ~aligned ~u32", hint),
};

constexpr Section kSections[] = {
    {kIntegerArithmetic, std::size(kIntegerArithmetic)},
    {kExtendedPrecisionIntegerArithmetic, std::size(kExtendedPrecisionIntegerArithmetic)},
    {kFloatingPoint, std::size(kFloatingPoint)},
    {kHalfPrecisionFloatingPoint, std::size(kHalfPrecisionFloatingPoint)},
    {kComparisonAndSelection, std::size(kComparisonAndSelection)},
    {kLogicAndShift, std::size(kLogicAndShift)},
    {kDataMovementAndConversion, std::size(kDataMovementAndConversion)},
    {kAsynchronousCopy, std::size(kAsynchronousCopy)},
    {kControlFlow, std::size(kControlFlow)},
    {kParallelSynchronizationAndCommunication, std::size(kParallelSynchronizationAndCommunication)},
    {kWarpLevelMatrixMultiplyAccumulate, std::size(kWarpLevelMatrixMultiplyAccumulate)},
    {kWarpgroupLevelMatrixMultiplyAccumulate, std::size(kWarpgroupLevelMatrixMultiplyAccumulate)},
    {kVideo, std::size(kVideo)},
    {kMiscellaneous, std::size(kMiscellaneous)},
};

// Exactly the rows that access memory have a rule for accesses to memory, so that initcheck checks
// every access.
constexpr bool is_rule_of_access(Definedness rule) {
  return rule >= Definedness::kLoad && rule <= Definedness::kCopy;
}
constexpr bool accesses_have_rules() {
  for (const Section& section : kSections) {
    for (size_t i = 0; i < section.count; ++i) {
      const Instruction& row = section.rows[i];
      if ((row.access != AccessKind::kNone) != is_rule_of_access(row.definedness)) return false;
    }
  }
  return true;
}
static_assert(accesses_have_rules());

}  // namespace

Sections sections() { return {std::begin(kSections), std::end(kSections)}; }

}  // namespace kernkit::simulator::ptx
