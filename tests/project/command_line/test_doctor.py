# SPDX-License-Identifier: Apache-2.0
"""`kernkit doctor`: each rule passes for a correct library and fails for a library that breaks the rule. g++ builds the
libraries."""

import io
import json
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
import zipfile

import pytest
from cuda_tools import cuobjdump, fatbin
from elftools.elf.elffile import ELFFile
from kernkit import cli
from kernkit.binaries import glibc
from kernkit.binaries.elf import ElfFile
from kernkit.binaries.fatbin import read_architectures
from kernkit.binaries.glibc import platform_tag
from kernkit.binaries.library import read_library
from kernkit.commands import doctor

# A hand-written library that passes every rule.
GOOD = """
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int __tvm_ffi_op(void*) { return 0; }
EXPORTED int __tvm_ffi__doc_op(void*) { return 0; }
EXPORTED int __tvm_ffi__metadata_op(void*) { return 0; }
EXPORTED void* __tvm_ffi__library_ctx = nullptr;
EXPORTED const char* kernkit_last_error() { return ""; }
EXPORTED void* kernkit_use_host(void*) { return nullptr; }
#define IN(name) __attribute__((used, section(name)))
IN("kernkit_schema") static const char line[] = "op(Tensor(a!) y) -> ()";
IN("kernkit_parsed") static const char parsed[] =
    "op: {\\"version\\":1,\\"parameters\\":[{\\"type\\":\\"Tensor\\",\\"name\\":\\"y\\",\\"alias\\":\\"a!\\"}],\\"results\\":[]}";
IN("kernkit_doc") static const char doc[] = "op: Sets y.";
"""
FLAGS = ["-fvisibility=hidden", "-Wl,-Bsymbolic", "-Wl,-z,nodelete"]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Returns make(source, flags), which compiles a library once for each source and flags."""
    folder, built = tmp_path_factory.mktemp("made"), {}

    def make(source=GOOD, flags=FLAGS):
        path = built.setdefault((source, *flags), folder / f"lib{len(built)}.so")
        if not path.exists():
            command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-x", "none", *flags]
            subprocess.run([*command, "-o", str(path)], input=source, text=True, check=True)
        return path

    return make


def failed(path, **options):
    """Returns {rule: message} of the failed rules."""
    findings = doctor.examine(read_library(path), **options)
    assert all(finding.text for finding in findings)
    return {finding.rule: finding.text for finding in findings if not finding.ok}


def text_of(path, rule):
    return next(f.text for f in doctor.examine(read_library(path)) if f.rule == rule)


def test_every_rule_accepts_a_good_library(compiled):
    assert failed(compiled(), glibc="2.5", cuda="none") == {}
    assert text_of(compiled(), "schemas") == "1 op: op"


def test_a_library_of_an_earlier_kernkit_is_accepted(compiled):
    path = compiled(GOOD.replace('IN("kernkit_parsed")', 'IN("other")'))
    assert failed(path) == {}
    assert text_of(path, "schemas") == "1 op: op; op: no parsed schema line, because an earlier kernkit built the file; to use kernkit bindings, build the library again"


def test_an_export_without_documentation_is_accepted(compiled):
    """An op without documentation passes: ops without a schema line, such as ops written for tvm-ffi, have no
    documentation."""
    documented = re.compile(r"EXPORTED int __tvm_ffi__doc.*\n|IN\(\"kernkit_doc.*\n")
    assert len(documented.findall(GOOD)) == 2
    assert failed(compiled(documented.sub("", GOOD))) == {}


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("option", ["-ffast-math", "-Ofast", "-funsafe-math-optimizations"])
def test_start_up_code_that_flushes_subnormals(compiler, option, tmp_path):
    """Start-up code that flushes subnormal numbers to zero is reported. The code is recognised by its name or, in a
    stripped file, by its bytes."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    path = tmp_path / "lib.so"
    command = [compiler, "-shared", "-fPIC", "-x", "c++", "-", "-x", "none", *FLAGS, option, "-o", str(path)]
    subprocess.run(command, input=GOOD, text=True, check=True)
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    links_it = "set_fast_math" in symbols
    if not links_it:
        pytest.skip(f"this {compiler} links no start-up code into a shared library")
    assert list(failed(path)) == ["startup"]
    subprocess.run(["strip", path], check=True)
    assert failed(path)["startup"].startswith("the start-up code flushes subnormals to zero, for all code of the process")


def test_other_start_up_code_is_accepted(compiled):
    """Other start-up code, and a function that sets the mode but does not run at start-up, are accepted."""
    source = GOOD + """
    __attribute__((constructor)) static void start() { kernkit_last_error(); }
    IN(".text.mode") static void mode() {
      unsigned bits;
      asm volatile("stmxcsr %0; orl $0x8040, %0; ldmxcsr %0" : "=m"(bits));
    }
    """
    if platform.machine() != "x86_64":
        pytest.skip("the test's instructions that set the mode are for x86-64")
    assert failed(compiled(source)) == {}


OP = "EXPORTED int __tvm_ffi_op("


@pytest.mark.parametrize(
    "old, new, rule, text",
    [
        ('\\"version\\":1', '\\"version\\":2', "schemas",
         "op: the parsed schema line has version 2; this kernkit reads version 1; this kernkit is older than the library, or the file"),
        ('\\"results\\":[]}', "", "schemas", "op: the parsed schema line is damaged: Expecting"),
        ('\\"type\\"', '\\"kind\\"', "schemas", "op: the parsed schema line is damaged: key 'type' is missing"),
        ('IN("kernkit_schema")', 'IN("other")', "schemas", "op: no schema line in the file"),
        ('"op(', '"another_op(', "schemas", "op: no schema line in the file"),
        (OP, "int __tvm_ffi_op(", "schemas", "op: a schema line, but no exported symbol"),
        (OP, "EXPORTED void x() {} EXPORTED void y() {}" + OP, "exports", "x, y: exported in addition to the ops"),
        ("EXPORTED int __tvm_ffi__doc", "int __tvm_ffi__doc", "exports", "op: not exported"),
        ("__tvm_ffi__library_ctx", "ctx", "exports", "ctx: exported in addition to the ops"),
        (
            OP,
            """template <class T> struct __attribute__((visibility("default"))) Holder {
                 static inline int value = 1;
               };
               int* f() { return &Holder<int>::value; }
            """
            + OP,
            "unique",
            "_ZN6HolderIiE5valueE: shared by all libraries of a process",
        ),
        (
            OP,
            """extern "C" int TVMFFIErrorCreate();
               extern "C" __attribute__((weak)) int PyErr_Occurred();
               int f() { return PyErr_Occurred ? PyErr_Occurred() : TVMFFIErrorCreate(); }
            """
            + OP,
            "host",
            "PyErr_Occurred, TVMFFIErrorCreate: not defined by the library or its dependencies",
        ),
    ],
)
def test_a_rule_fails_for_a_source_with_one_fault(compiled, old, new, rule, text):
    assert GOOD.count(old) == 1
    failures = failed(compiled(GOOD.replace(old, new)))
    assert text in failures[rule] and set(failures) <= {rule, "exports"}


@pytest.mark.parametrize(
    "flag, rule, text",
    [
        ("-Wl,-Bsymbolic", "itself", "symbols of another library can replace the library's own"),
        ("-Wl,-z,nodelete", "nodelete", "the library can be unmapped while its tensors exist"),
    ],
)
def test_a_rule_fails_for_a_flag_that_is_left_out(compiled, flag, rule, text):
    failures = failed(compiled(flags=[flag_of_line for flag_of_line in FLAGS if flag_of_line != flag]))
    assert list(failures) == [rule] and text in failures[rule]


def test_a_dependency_is_rejected_or_allowed(compiled):
    dependency = compiled(flags=["-Wl,-soname,libcudart.so.12"])
    path = compiled(flags=[*FLAGS, "-Wl,--no-as-needed", str(dependency)])
    assert list(failed(path)) == ["needed"]
    assert failed(path)["needed"].startswith("libcudart.so.12: not on every Linux")
    assert failed(path, also_needed=["libcudart.so.12"]) == {}


IDENTITY = "library=fast_ops 1.2.0; commit=0123abcd+; compiler=GNU 12.2.0; cuda=13.0.88 for 80 90-real; kernkit=0.1.0"


def test_the_identity_matches_the_file(compiled):
    text = f'\nIN(".kernkit") static const char text[] = "{IDENTITY}";'
    function = '\nEXPORTED const char* kernkit_identity() { return text; }'
    path = compiled(GOOD + text + function)
    assert failed(path) == {}
    assert text_of(path, "identity") == ("fast_ops 1.2.0; commit 0123abcd+; compiler GNU 12.2.0; cuda 13.0.88 for 80 90-real; "
                                      "kernkit 0.1.0")  # fmt: skip
    assert text_of(path, "exports") == "the library exports the ops and 4 names of kernkit"
    assert failed(compiled(GOOD + text))["exports"].startswith("kernkit_identity: not exported")
    assert failed(compiled(GOOD + text.replace(".kernkit", ".other") + function))["exports"].startswith("kernkit_identity: exported")
    assert text_of(compiled(), "identity") == "no identity in the file; link the library by kernkit_add_library(), which writes the identity"


# ELF


def test_the_reader_agrees_with_pyelftools(compiled, library):
    use = "\n#include <stdio.h>\nint f() { return puts(line); } int (*g)() = f;"
    for path in (compiled(GOOD + use), library):
        file = ElfFile(path)
        with open(path, "rb") as stream:
            elf = ELFFile(stream)
            assert [section.name for section in file.sections] == [section.name for section in elf.iter_sections()]
            assert all(file.read(file.section(section.name)) == section.data() for section in elf.iter_sections()
                       if section["sh_type"] != "SHT_NOBITS")  # fmt: skip
            symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())
            assert [symbol.name for symbol in file.symbols()] == [symbol.name for symbol in symbols]
            assert [symbol.is_undefined for symbol in file.symbols()] == [symbol["st_shndx"] == "SHN_UNDEF" for symbol in symbols]
            tags = list(elf.get_section_by_name(".dynamic").iter_tags())
            assert file.needed() == [tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"]
            assert [value for _, value in file.dynamic()] == [tag.entry.d_val for tag in tags][:-1]
            needs = elf.get_section_by_name(".gnu.version_r")
            versions = {version["vna_other"]: version.name for _, versions in needs.iter_versions() for version in versions}
            assert file.needed_versions() == versions
            relocations = [entry for section in elf.iter_sections() if section["sh_type"] == "SHT_RELA" for entry in section.iter_relocations()]
            assert file.relocations() == {entry["r_offset"]: entry["r_addend"] for entry in relocations}


# glibc


def test_a_too_new_glibc_is_named_with_the_symbols_that_need_it(compiled):
    source = (
        GOOD + "#include <time.h>\nint f(timespec* t) { return clock_gettime(CLOCK_REALTIME, t); }"
    )
    path = compiled(source)
    assert failed(path, glibc="2.17") == {}
    assert failed(path, glibc="2.16")["glibc"].startswith(
        "clock_gettime: requires glibc 2.17, and --glibc permits 2.16"
    )
    assert text_of(path, "glibc") == "2.17 or newer; the tag of a wheel is py3-none-manylinux_2_17_x86_64"


def test_packed_relocations_require_a_glibc_that_supports_them(compiled):
    """`kernkit doctor` reports that a file with packed relocations requires glibc 2.36. The linker records this as the
    version GLIBC_ABI_DT_RELR, to which no symbol belongs."""
    source = GOOD + "#include <stdio.h>\nint f() { return puts(line); } int (*g)() = f;"
    path = compiled(source, [*FLAGS, "-Wl,-z,pack-relative-relocs"])
    if "GLIBC_ABI_DT_RELR" not in read_library(path).versions:
        pytest.skip("this linker packs no relocations")
    assert text_of(path, "glibc") == "2.36 or newer; the tag of a wheel is py3-none-manylinux_2_36_x86_64"
    assert failed(path, glibc="2.35")["glibc"].startswith(
        "GLIBC_ABI_DT_RELR: requires glibc 2.36, and --glibc permits 2.35"
    )


@pytest.mark.parametrize(
    "needs, tag",
    [
        ([], "manylinux_2_5_x86_64"),
        (["GLIBC_2.17"], "manylinux_2_17_x86_64"),
        (["GLIBC_2.18", "OTHER_9"], "manylinux_2_24_x86_64"),
        (["GLIBC_2.3.4", "GLIBCXX_3.4.29"], "manylinux_2_34_x86_64"),
        (["GLIBC_2.17", "CXXABI_1.3.11"], "manylinux_2_27_x86_64"),
        (["GLIBC_2.17", "GCC_14.0.0"], "manylinux_2_39_x86_64"),
        (["GLIBC_2.99"], None),
        (["GLIBC_2.17", "GLIBC_ABI_OF_TOMORROW"], None),
    ],
)
def test_the_tag_is_the_lowest_that_suffices(needs, tag):
    assert platform_tag("x86_64", needs) == tag


def test_without_auditwheel_there_is_no_tag(compiled, monkeypatch, capsys):
    monkeypatch.setattr(glibc, "_policies", lambda: None)
    assert text_of(compiled(), "glibc").startswith("2.0 or newer; the platform tag of a wheel comes from auditwheel, which is not installed")
    assert cli.main(["doctor", str(compiled()), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["platform_tag"] is None


def test_the_tag_is_that_of_auditwheel(library, tmp_path):
    pytest.importorskip("auditwheel", reason="auditwheel is not installed")
    wheel = tmp_path / "x-1-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(library, "x/lib.so")
        archive.writestr("x-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        archive.writestr("x-1.dist-info/RECORD", "x/lib.so,,\n")
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (tag,) = re.findall(r'platform\s+tag:\s+"(.*?)"', shown)
    assert text_of(library, "glibc").endswith(f"py3-none-{tag}")


# CUDA


def test_architectures_are_read_from_the_fatbin(compiled):
    entries = (2, 90, 0x100011), (1, 120, 0x8011), (2, 80, 0x11), (2, 100, 0x1200011), (64, 7, 0)
    path = compiled(GOOD + fatbin(*entries) + fatbin((2, 80, 0), name="more"))
    assert text_of(path, "cuda") == "code for sm_80 sm_90a sm_100f compute_120"
    assert failed(path, cuda="compute_120,sm_80,sm_100f,sm_90a") == {}
    assert "but --cuda requires sm_80;" in failed(path, cuda="sm_80")["cuda"]
    assert "but --cuda requires none;" in failed(path, cuda="none")["cuda"]


def test_a_fatbin_of_an_unknown_form_is_a_failure(compiled):
    path = compiled(GOOD + fatbin((2, 80, 0), magic=1))
    assert "expected a fatbin at byte 0 of section .nv_fatbin" in failed(path)["cuda"]


def test_architectures_are_those_that_cuobjdump_prints(library):
    listing = cuobjdump(library, "--list-elf", "--list-ptx")
    architectures = {f"sm_{name}" for name in re.findall(r"sm_(\w+)\.cubin", listing)}
    architectures |= {f"compute_{name}" for name in re.findall(r"sm_(\w+)\.ptx", listing)}
    assert set(read_architectures(library)) == architectures


# The command


def test_lines_json_and_exit_codes(compiled, capsys):
    bad = compiled(flags=FLAGS[:2])
    assert cli.main(["doctor", str(compiled()), "--glibc", "2.17", "--cuda", "none"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ok"] * 11
    assert cli.main(["doctor", str(bad)]) == 1
    assert "FAIL  nodelete  the library can be unmapped" in capsys.readouterr().out
    assert cli.main(["doctor", str(bad), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["schemas"] == ["op(Tensor(a!) y) -> ()"] and not report["ok"]
    assert report["platform_tag"] == "manylinux_2_5_x86_64" and report["cuda"] == []
    assert [rule["rule"] for rule in report["rules"] if not rule["ok"]] == ["nodelete"]


def test_other_files_than_libraries_are_rejected(compiled, tmp_path, capsys):
    def rejected(path, *options):
        assert cli.main(["doctor", str(path), *options]) == 3
        return capsys.readouterr().err

    text, cut, stripped = (tmp_path / name for name in ("text", "cut.so", "stripped.so"))
    text.write_text("no library")
    intact = compiled().read_bytes()
    cut.write_bytes(intact[: len(intact) // 2])
    assert "is not a shared library: the file has no ELF header" in rejected(text)
    assert "No such file or directory" in rejected(tmp_path / "missing.so")
    assert "is damaged" in rejected(cut)
    stripped.write_bytes(intact[:40] + bytes(8) + intact[48:60] + bytes(4) + intact[64:])
    assert "its section headers were removed" in rejected(stripped)
    assert 'kernkit: --glibc "new" is not a version; enter a version such as 2.28' in rejected(compiled(), "--glibc", "new")


def damaged(intact):
    """Yields (description, copy) for copies of the file that are truncated, or that have changed bytes in the headers
    or in a section that kernkit reads."""
    generator = random.Random(1)
    (headers,) = struct.unpack_from("<Q", intact, 40)
    ranges = [(0, 64), (headers, len(intact))]
    for section in ELFFile(io.BytesIO(intact)).iter_sections():
        if section.name.startswith((".gnu.version", ".dyn", ".nv_", ".shstr", "kernkit_")):
            ranges.append((section["sh_offset"], section["sh_offset"] + section["sh_size"]))
    for _ in range(15):
        length = generator.randrange(len(intact))
        yield f"cut to {length} bytes", intact[:length]
    for _ in range(50):
        copy, changes = bytearray(intact), []
        for _ in range(generator.choice((1, 1, 2, 8))):
            at = generator.randrange(*generator.choice(ranges))
            bytes_ = bytes([generator.choice((0, 1, 128, 255))]) * generator.choice((1, 4, 8))
            copy[at : at + len(bytes_)] = bytes_
            changes.append(f"{bytes_.hex()} at {at}")
        yield ", ".join(changes), bytes(copy[: len(intact)])


def test_a_damaged_file_is_a_sentence(compiled, tmp_path, capsys):
    """`kernkit doctor` and `kernkit bindings` of a damaged file end with exit code 0 or 1, or with exit code 3 and a
    message of one line."""
    use = "\n#include <stdio.h>\nint f() { return puts(line); }"
    intact = compiled(GOOD + fatbin((2, 80, 0), (1, 90, 0)) + use).read_bytes()
    path, codes = tmp_path / "lib.so", set()
    for changes, content in damaged(intact):
        path.write_bytes(content)
        for command in (["doctor"], ["bindings", "--package", "p", "--output", str(tmp_path / "p")]):
            try:
                code = cli.main([*command[:1], str(path), *command[1:]])
            except Exception as error:
                pytest.fail(f"{command[0]}, {changes}: {error!r}")
            message = capsys.readouterr().err
            assert (code, message.count("\n")) in ((0, 0), (1, 0), (3, 1)), (changes, message)
            codes.add((command[0], code))
    # All five outcomes occur: exit codes 0, 1 and 3 of doctor, 0 and 3 of bindings.
    assert len(codes) == 5


@pytest.mark.all
def test_a_library_on_tvm_ffis_own_headers_is_examined(dlpack_include, compiled):
    source = """
#include <tvm/ffi/tvm_ffi.h>
int64_t next(int64_t x) { return x + 1; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_one, next);
"""
    folder = dlpack_include.parent / "lib"
    libraries = [f"-L{folder}", "-ltvm_ffi", "-std=c++17", f"-I{dlpack_include}"]
    failures = failed(compiled(source, libraries))
    assert failures["schemas"].startswith("add_one: no schema line in the file")
    assert failures["needed"].startswith("libtvm_ffi.so: not on every Linux")
    assert "TVMFFI" in failures["host"] and "exports" in failures
