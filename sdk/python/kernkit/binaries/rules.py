# SPDX-License-Identifier: Apache-2.0
"""Rules about the file of a built library. `kernkit doctor` applies all rules, and `kernkit
conformance` applies the rules about loading a library beside other libraries. The library is read
and not loaded."""

import dataclasses
import re
from typing import Iterable, List, Optional

from ..parsed_line import read_op
from ..schema import SchemaError
from .glibc import has_policies, parse_version, platform_tag, version_of
from .identity import as_line
from .library import Library
from .ops import op_of_line, read_docs, read_parsed

OWN_EXPORTS = {"__tvm_ffi__library_ctx", "kernkit_last_error", "kernkit_use_host"}
NEEDED = {"libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "libdl.so.2",
          "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# Weak symbols that the compiler's start-up code leaves undefined in every library.
_TOOLCHAIN = {"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__cxa_finalize", "__gmon_start__"}
_HOST = re.compile(r"TVMFFI|_?Py[A-Z_]")


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one rule of `kernkit doctor` for a library."""

    rule: str
    ok: bool
    text: str  # description of the result; if the rule failed, also how to fix the library


def _list(names: Iterable[str], limit: int = 5) -> str:
    names = sorted(name if len(name) <= 60 else name[:59] + "…" for name in names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def failure(rule: str, text: str) -> Finding:
    """Returns a failed finding of the rule `rule`. `text`: the reason, and how to fix the library."""
    return Finding(rule, False, text)


def check_schemas(library: Library) -> Finding:
    named = set(map(op_of_line, library.lines))
    try:
        parsed = read_parsed(library.path)
        for line in library.lines:
            if op_of_line(line) in parsed:
                read_op(op_of_line(line), line, parsed[op_of_line(line)])
    except SchemaError as error:
        return failure("schemas", f"{error}; this kernkit is older than the library, "
                     "or the file was changed after it was built; use a newer kernkit, or build the library again")
    if without := library.ops - named:
        return failure("schemas", f"{_list(without)}: no schema line in the file; export it with "
                     "KERNKIT_EXPORT, and keep section kernkit_schema when stripping")
    if missing := named - library.ops:
        return failure("schemas", f"{_list(missing)}: a schema line, but no exported symbol; link "
                     "by kernkit_add_library(), whose version script keeps ops")
    if not named:
        return failure("schemas", "no op found; add one with kernkit_add_kernel()")
    unparsed = named - set(parsed)
    earlier = f"; {_list(unparsed)}: no parsed schema line, because an earlier kernkit built the file; to use kernkit " \
              "bindings, build the library again" if unparsed else ""
    return Finding("schemas", True, f"{len(named)} op{'s' * (len(named) > 1)}: {_list(named, 1000)}{earlier}")


def check_exports(library: Library) -> Finding:
    own_exports = OWN_EXPORTS | ({"kernkit_identity"} if library.identity else set())
    expected = own_exports | {f"__tvm_ffi_{prefix}{op}" for op in library.ops for prefix in ("", "_metadata_")}
    expected |= {f"__tvm_ffi__doc_{op}" for op in library.ops & set(read_docs(library.path))}
    if others := {name for name in library.exported - expected if not re.match("__tvm_ffi__(backward|doc)_|kernkit_xla_(cpu|cuda)_|kernkit_static_runtime_", name)}:
        return failure("exports", f"{_list(others)}: exported in addition to the ops, and can collide with a symbol of "
                     "another library; link by kernkit_add_library(), or with its version "
                     "script kernkit.map and -Wl,--exclude-libs,ALL")
    if missing := expected - library.exported:
        return failure("exports", f"{_list(missing)}: not exported, although KERNKIT_EXPORT defines them; "
                     "a version script of your own must keep __tvm_ffi_* and kernkit_*")
    return Finding("exports", True, f"the library exports the ops and {len(own_exports)} names of kernkit")


def check_unique(library: Library) -> Finding:
    if library.unique:
        return failure("unique", f"{_list(library.unique)}: shared by all libraries of a process, "
                     "which then use one definition; compile with -fno-gnu-unique")
    return Finding("unique", True, "no symbol is process-wide")


def check_itself(library: Library) -> Finding:
    if not library.is_symbolic:
        return failure("itself", "symbols of another library can replace the library's own; link with -Wl,-Bsymbolic")
    return Finding("itself", True, "references to the library's own symbols are bound inside the library")


def check_host(library: Library, also_needed: Iterable[str] = ()) -> Finding:
    """Returns the finding of the rule "host": every undefined symbol must have a version, as the symbols of glibc and
    of g++'s libraries have. If the library depends on a library in `also_needed`, only undefined symbols of tvm_ffi and
    of Python break the rule."""
    unversioned = {name for name, version in library.undefined.items() if not version} - _TOOLCHAIN
    if set(also_needed) & set(library.needed):
        unversioned = {name for name in unversioned if _HOST.match(name)}
    if unversioned:
        return failure("host", f"{_list(unversioned)}: not defined by the library or its dependencies, so that loading can "
                     "fail; link with -Wl,-z,defs, and the linker prints the code that uses an undefined symbol "
                     "(kernkit's own code has no undefined symbol of a host, because kernkit looks up its host at run time)")
    return Finding("host", True, "the process that loads the library need not define any symbol")


def check_needed(library: Library, also_needed: Iterable[str] = ()) -> Finding:
    if others := set(library.needed) - NEEDED - set(also_needed):
        return failure("needed", f"{_list(others)}: not on every Linux; remove the dependency, link it "
                     "statically (CUDA: CUDA::cudart_static), or allow it with --needed")
    return Finding("needed", True, _list(library.needed, 1000) or "no library")


def check_nodelete(library: Library) -> Finding:
    if not library.is_nodelete:
        return failure("nodelete", "the library can be unmapped while its tensors exist, and their deleters "
                     "then crash; link with -Wl,-z,nodelete")
    return Finding("nodelete", True, "the library stays mapped until the process ends")


def check_startup(library: Library) -> Finding:
    if library.flushes:
        return failure("startup", "the start-up code flushes subnormals to zero, for all code of the process; "
                     "link without -ffast-math, -Ofast and -funsafe-math-optimizations, and pass options for the "
                     "arithmetic of one op as OPTIONS of kernkit_add_kernel()")
    return Finding("startup", True, "loading the library does not change the floating-point mode of the process")


def check_glibc(library: Library, most: Optional[str] = None) -> Finding:
    needs = library.needs()
    glibc = needs.get("GLIBC", (2, 0))
    tag = platform_tag(library.machine, library.versions)
    if most is not None and glibc > parse_version(most):
        newer = [text for text in library.versions if version_of(text) == ("GLIBC", glibc)]
        names = [name for name, version in library.undefined.items() if version in newer]
        return failure("glibc",
                     f"{_list(names or newer)}: requires glibc {'.'.join(map(str, glibc))}, and --glibc permits {most}; "
                     "build on an older system, such as the manylinux image of that glibc")
    first = f"{'.'.join(map(str, glibc))} or newer"
    if not has_policies():
        return Finding("glibc", True, f"{first}; the platform tag of a wheel comes from auditwheel, which is not installed; "
                       "run pip install auditwheel")
    if tag is None:
        kinds = _list("_".join(filter(None, (kind, ".".join(map(str, version)))))
                      for kind, version in needs.items())  # fmt: skip
        return failure("glibc", f"{kinds}: the library needs these versions, which no platform tag of a wheel permits; build on an "
                     "older system, or link with -static-libstdc++")
    return Finding("glibc", True, f"{first}; the tag of a wheel is py3-none-{tag}")


def check_cuda(library: Library, expected: Optional[str] = None) -> Finding:
    if library.fatbin_error:
        return failure("cuda", f"{library.fatbin_error}; cuobjdump --list-elf --list-ptx may support this newer form")
    built = " ".join(library.architectures) or "none"
    requested = None if expected is None else set(re.split("[ ,;]+", expected)) - {"none", ""}
    if requested is not None and requested != set(library.architectures):
        return failure("cuda", f"the library has code for {built}, but --cuda requires {expected}; build with other CMAKE_CUDA_ARCHITECTURES")
    return Finding("cuda", True, f"code for {built}")


def check_identity(library: Library) -> Finding:
    return Finding("identity", True, as_line(library.identity) or "no identity in the file; link the library by kernkit_add_library(), which writes the identity")


def examine(
    library: Library,
    *,
    also_needed: Iterable[str] = (),
    glibc: Optional[str] = None,
    cuda: Optional[str] = None,
) -> List[Finding]:
    """Returns the findings of all rules, in the order of the rules in the docstring of commands/doctor.py."""
    return [
        check_schemas(library),
        check_exports(library),
        check_unique(library),
        check_itself(library),
        check_host(library, also_needed),
        check_needed(library, also_needed),
        check_nodelete(library),
        check_startup(library),
        check_glibc(library, glibc),
        check_cuda(library, cuda),
        check_identity(library),
    ]
