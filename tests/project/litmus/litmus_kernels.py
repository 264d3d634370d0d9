# SPDX-License-Identifier: Apache-2.0
"""Writes litmus programs as one CUDA C++ program with a kernel for each of them. Each operation is a line of inline
PTX. A thread of a litmus program is the first lane of a warp; all lanes of the warp execute its barriers."""

TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
REGISTERS = {1: "r", 2: "h", 4: "r", 8: "l"}  # constraints of inline PTX; 8 bits have no constraint of their own
VARIABLES = {1: "word", 2: "half", 4: "word", 8: "wide"}


def statement(template, outputs="", inputs=""):
    return f'asm volatile("{template}" : {outputs} : {inputs} : "memory");'


def qualifiers(op):
    """Returns the order and the scope of an operation as PTX text. A weak or volatile operation has no scope."""
    return op.order if op.order in ("weak", "volatile") else f"{op.order}.{op.scope}"


def fence_text(op):
    if op.order == "membar":
        return "membar." + {"cta": "cta", "gpu": "gl", "sys": "sys"}[op.scope] + ";"
    return f"fence.{op.order}.{op.scope};"


def barrier_text(op):
    if op.kind.startswith("cluster."):
        return f"barrier.{op.kind}{'.' if op.order else ''}{op.order};"
    threads = 32 * op.participants
    if op.kind == "bar.red":
        return "{ .reg .pred p; setp.ne.u32 p, 1, 0; bar.red.and.pred p, " + f"{op.barrier}, {threads}, p; " + "}"
    return f"{op.kind} {op.barrier}, {threads};"


def access(op, shared):
    """Returns the C++ statement of a memory operation. The result of the operation is in VARIABLES[op.size]."""
    space, kind, variable = ("shared" if shared else "global"), TYPES[op.size], VARIABLES[op.size]
    address = f'"{"r" if shared else "l"}"({op.location} + {op.at})'
    register = REGISTERS[op.size]
    written = f'"{register}"({"(unsigned short)" if op.size == 2 else ""}{op.value}{"ull" if op.size == 8 else ""})'
    if op.kind == "ld":
        return statement(f"ld.{qualifiers(op)}.{space}.{kind} %0, [%1];", f'"={register}"({variable})', address)
    if op.kind == "st":
        return statement(f"st.{qualifiers(op)}.{space}.{kind} [%0], %1;", "", f"{address}, {written}")
    if op.kind == "red":
        return statement(f"red.{qualifiers(op)}.{space}.add.u32 [%0], %1;", "", f"{address}, {written}")
    operation, operands = {"add": ("add.u32", "%2"), "exch": ("exch.b32", "%2"), "cas": ("cas.b32", "0, %2")}[op.kind]
    return statement(f"atom.{qualifiers(op)}.{space}.{operation} %0, [%1], {operands};", '"=r"(word)', f"{address}, {written}")  # fmt: skip


def line_of(op, shared):
    if op.kind == "fence":
        return statement(fence_text(op))
    if op.barrier:
        return statement(barrier_text(op))
    text = access(op, op.location in shared)
    if op.until is not None:
        again = "word != 0" if op.kind == "cas" else f"word < {op.until}"
        return f"do {text} while ({again});"
    if op.unless is not None:
        return f"{text} if (word < {op.unless}) return;"
    if op.below is not None:
        return f"{text} if (word >= {op.below}) return;"
    return text


class Source:
    """The source of litmus programs. text: the text of the source. places: {(name of the kernel, line): (thread, index
    of the operation)}."""

    def __init__(self, programs):
        self.lines, self.places = [], {}
        self.write("// Litmus programs.", "#include <cstdio>", "")
        for program in programs:
            self.kernel(program)
        self.main(programs)
        self.text = "\n".join(self.lines) + "\n"

    def write(self, *lines):
        self.lines += lines

    def kernel(self, program):
        self.write(f"__global__ void {program.name}(unsigned long long* memory) {{")
        if program.cluster > 1:
            self.lines[-1] = self.lines[-1].replace("void", f"void __cluster_dims__({program.cluster}, 1, 1)")
        self.write("  [[maybe_unused]] unsigned word; [[maybe_unused]] unsigned short half; [[maybe_unused]] unsigned long long wide;",
                   "  const unsigned warp = threadIdx.x / 32, block = blockIdx.x;", "  const bool first = threadIdx.x % 32 == 0;")  # fmt: skip
        if program.shared:
            self.write(f"  __shared__ unsigned long long tile[{len(program.shared)}];",
                       f"  if (threadIdx.x < {len(program.shared)}) tile[threadIdx.x] = 0;", "  __syncthreads();")  # fmt: skip
        for number, location in enumerate(program.locations):
            if location in program.shared:
                offset = 8 * program.shared.index(location)
                self.write(f"  const unsigned {location} = (unsigned)__cvta_generic_to_shared(tile) + {offset};")
            else:
                self.write(f"  char* const {location} = (char*)(memory + {number});")
        warps = {}
        for number, thread in enumerate(program.threads):
            warp = warps.setdefault(thread.block, 0)
            warps[thread.block] += 1
            self.write(f"  if (block == {thread.block} && warp == {warp}) {{")
            conditional = any(op.unless is not None or op.below is not None for op in thread.ops)
            assert not (conditional and any(op.barrier for op in thread.ops))
            for index, op in enumerate(thread.ops):
                text = line_of(op, program.shared)
                self.write(f"    {text}" if op.barrier else f"    if (first) {{ {text} }}")
                self.places[program.name, len(self.lines)] = (number, index)
            self.write("  }")
        self.write("}", "")

    def main(self, programs):
        self.write("int main() {", "  unsigned long long* memory = nullptr;",
                   f"  const size_t bytes = {64 * len(programs)};",
                   "  if (cudaMalloc(&memory, bytes) != cudaSuccess || cudaMemset(memory, 0, bytes) != cudaSuccess) return 2;")  # fmt: skip
        for number, program in enumerate(programs):
            warps = max(sum(t.block == block for t in program.threads) for block in range(program.blocks))
            self.write(f"  {program.name}<<<{program.blocks}, {32 * warps}>>>(memory + {8 * number});")
        self.write("  const cudaError_t error = cudaDeviceSynchronize();",
                   '  std::printf("%s\\n", error == cudaSuccess ? "done" : cudaGetErrorString(error));',
                   "  return error == cudaSuccess ? 0 : 2;", "}")  # fmt: skip
