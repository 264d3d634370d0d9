# SPDX-License-Identifier: Apache-2.0
"""The manifest of a library's copy of the SDK, and the changes that `kernkit doctor` lists."""

import pytest
from kernkit import cli
from kernkit.commands import doctor
from kernkit.project import manifest
from kernkit.scaffold import components


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """Returns a library's folder with a copy of an SDK that consists of two files."""
    folder = tmp_path / "third_party/kernkit"
    (folder / "include").mkdir(parents=True)
    (folder / "include/a.h").write_text("a\n")
    (folder / "CMakeLists.txt").write_text("b\n")
    manifest.write(str(folder), "1.2.3")
    monkeypatch.chdir(tmp_path)
    return folder


def test_one_line_has_version_and_digest(copy):
    line = manifest.version_line(str(copy))
    assert line.startswith("kernkit 1.2.3 sha256:") and len(line.split(":")[1]) == 64
    assert doctor.check_sealed(copy) == doctor.Finding("sealed", True, f"{copy} is {line}")
    (copy / "include/a.h").write_text("other\n")
    manifest.write(str(copy), "1.2.3")
    assert manifest.version_line(str(copy)) != line


def test_changes_are_listed(copy):
    (copy / "include/a.h").write_text("c\n")
    (copy / "CMakeLists.txt").unlink()
    (copy / "include/new.h").write_text("")
    (copy / "include/__pycache__").mkdir()  # the manifest ignores bytecode
    (copy / "include/__pycache__/x.pyc").write_text("")
    finding = doctor.check_sealed(copy)
    assert not finding.ok and finding.text.startswith(
        f"{copy} differs from its original in kernkit 1.2.3: "
        "changed: include/a.h; missing: CMakeLists.txt; added: include/new.h; restore it"
    )


@pytest.mark.parametrize("old, new", [("1.2.3", "1.2.4"), ("include/a.h", "include/b.h"), ("{", "")])
def test_an_edited_manifest_is_a_change(copy, old, new):
    text = (copy / "MANIFEST").read_text()
    (copy / "MANIFEST").write_text(text.replace(old, new, 1))
    assert manifest.changes(str(copy)).changed == ["MANIFEST"]


def test_the_manifest_of_an_earlier_kernkit_is_read(copy):
    (copy / "MANIFEST").rename(copy / "SEAL")
    assert manifest.has_manifest(str(copy)) and not any(manifest.changes(str(copy)))
    assert manifest.version_line(str(copy)).startswith("kernkit 1.2.3 ")
    (copy / "include/a.h").write_text("c\n")
    assert manifest.changes(str(copy)).changed == ["include/a.h"]
    (copy / "SEAL").write_text("")
    assert manifest.changes(str(copy)).changed == ["SEAL"]


def test_doctor_examines_the_copy_of_the_current_library(copy, library, capsys):
    assert cli.main(["doctor", str(library)]) == 0
    assert f"ok    sealed    third_party/kernkit is {manifest.version_line('third_party/kernkit')}\n" in capsys.readouterr().out
    (copy / "include/a.h").write_text("c\n")
    assert cli.main(["doctor", str(library)]) == 1
    assert "FAIL  sealed    third_party/kernkit differs from its original in kernkit 1.2.3: " in capsys.readouterr().out


def test_doctor_looks_at_both_folders_of_the_copy(copy, library, capsys):
    development = copy.parent / "kernkit_dev"
    development.mkdir()
    (development / "executor.h").write_text("a\n")
    manifest.write(str(development), "1.2.3")
    assert cli.main(["doctor", str(library)]) == 0
    assert capsys.readouterr().out.count("\nok    sealed    third_party/kernkit") == 2
    (development / "executor.h").write_text("b\n")
    assert cli.main(["doctor", str(library)]) == 1
    output = capsys.readouterr().out
    assert "\nok    sealed    third_party/kernkit is kernkit 1.2.3 " in output
    assert "\nFAIL  sealed    third_party/kernkit_dev differs from its original in kernkit 1.2.3: changed: executor.h; restore it " in output


def test_a_copy_holds_the_core_and_its_components(tmp_path):
    files = ["include/kernkit/tensor.h", "tvm_ffi_compat/tvm/ffi/any.h", "simulator/ptx/machine.cc",
             "simulator/runtime/memory.cc", "python/kernkit/commands/new.py", "python/kernkit/commands/add.py"]  # fmt: skip
    for path in files:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    folder = str(tmp_path)
    assert components.problem("ptx,tvm_ffi_compat", files) == "" == components.problem("", files)
    assert components.problem("ptx,starting", files) == 'unsupported component "starting"; supported components: ptx, tvm_ffi_compat'
    assert components.problem("plots", files) == 'unsupported component "plots"; supported components: ptx, tvm_ffi_compat'
    components.remove_others(folder, "tvm_ffi_compat")
    assert manifest.files_below(folder) == sorted(set(files) - {"simulator/ptx/machine.cc", "python/kernkit/commands/new.py"})
    assert not (tmp_path / "simulator/ptx").exists()
    components.move_development(folder, str(tmp_path / "development"))
    assert manifest.files_below(folder) == ["development/python/kernkit/commands/add.py", "development/simulator/runtime/memory.cc",
                                            "include/kernkit/tensor.h", "tvm_ffi_compat/tvm/ffi/any.h"]  # fmt: skip
    assert not (tmp_path / "python").exists()
