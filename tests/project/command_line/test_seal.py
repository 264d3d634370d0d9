# SPDX-License-Identifier: Apache-2.0
"""The seal of a library's copy of the SDK: `kernkit doctor` says what was touched."""

import pytest
from kernkit import cli, doctor
from kernkit.library import parts, seal


@pytest.fixture
def sealed(tmp_path, monkeypatch):
    """A library's folder with a copy of an SDK of two files."""
    folder = tmp_path / "third_party/kernkit"
    (folder / "include").mkdir(parents=True)
    (folder / "include/a.h").write_text("a\n")
    (folder / "CMakeLists.txt").write_text("b\n")
    seal.write(str(folder), "1.2.3")
    monkeypatch.chdir(tmp_path)
    return folder


def test_one_line_has_version_and_digest(sealed):
    line = seal.version_line(str(sealed))
    assert line.startswith("kernkit 1.2.3 sha256:") and len(line.split(":")[1]) == 64
    assert doctor.check_sealed(sealed) == doctor.Finding("sealed", True, line)
    (sealed / "include/a.h").write_text("other\n")
    seal.write(str(sealed), "1.2.3")
    assert seal.version_line(str(sealed)) != line


def test_what_was_touched_is_named(sealed):
    (sealed / "include/a.h").write_text("c\n")
    (sealed / "CMakeLists.txt").unlink()
    (sealed / "include/new.h").write_text("")
    (sealed / "include/__pycache__").mkdir()  # what tools leave is nothing
    (sealed / "include/__pycache__/x.pyc").write_text("")
    finding = doctor.check_sealed(sealed)
    assert not finding.ok and finding.text.startswith(
        f"{sealed} was touched since it was kernkit 1.2.3: "
        "changed: include/a.h; missing: CMakeLists.txt; added: include/new.h; restore it"
    )


@pytest.mark.parametrize("old, new", [("1.2.3", "1.2.4"), ("include/a.h", "include/b.h"), ("{", "")])
def test_a_seal_that_was_edited_is_touched(sealed, old, new):
    text = (sealed / "SEAL").read_text()
    (sealed / "SEAL").write_text(text.replace(old, new, 1))
    assert seal.touched(str(sealed)).changed == ["SEAL"]


def test_doctor_looks_at_the_copy_of_the_library_in_whose_folder_it_runs(sealed, library, capsys):
    assert cli.main(["doctor", str(library)]) == 0
    assert f"ok    sealed    {seal.version_line('third_party/kernkit')}\n" in capsys.readouterr().out
    (sealed / "include/a.h").write_text("c\n")
    assert cli.main(["doctor", str(library)]) == 1
    assert "FAIL  sealed    third_party/kernkit was touched since" in capsys.readouterr().out


def test_a_copy_holds_the_core_and_what_it_takes(tmp_path):
    files = ["include/kernkit/tensor.h", "tvm_ffi_compat/tvm/ffi/any.h", "simulator/ptx/machine.cc",
             "simulator/runtime/memory.cc", "python/kernkit/new.py", "python/kernkit/add.py"]  # fmt: skip
    for path in files:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    folder = str(tmp_path)
    assert parts.problem("ptx,tvm_ffi_compat", folder) == "" == parts.problem("", folder)
    assert parts.problem("ptx,starting", folder) == 'there is no part "starting"; type ptx, tvm_ffi_compat'
    assert parts.problem("plots", folder) == 'there is no part "plots"; type ptx, tvm_ffi_compat'
    parts.leave(folder, "tvm_ffi_compat")
    assert seal.files_below(folder) == sorted(set(files) - {"simulator/ptx/machine.cc", "python/kernkit/new.py"})
    assert not (tmp_path / "simulator/ptx").exists()
