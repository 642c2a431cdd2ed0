"""The tool makes programs that tell a defective library from the right one."""

from __future__ import annotations

from pathlib import Path

from armci_tool import bazel, conformance, repository
from armci_tool.libraries import ForeignLibrary
from armci_tool.process import run as run_command
from armci_tool.reproducers import maker, program
from armci_tool.results import FAILED

# Strided puts lose their last row, a put with flag does not return 0, and an accumulate of nothing ends the job.
DEFECT = """
#include <stdlib.h>
#include <armci.h>
int PARMCI_PutS(void *, int *, void *, int *, int *, int, int);
int PARMCI_Acc(int, void *, void *, void *, int, int);
int PARMCI_PutS_flag(void *, int *, void *, int *, int *, int, int *, int, int);
int ARMCI_PutS(void *s, int *ss, void *d, int *ds, int *count, int levels, int proc) {
  int fewer[9] = {0};
  for (int i = 0; i <= levels && i < 9; i++) fewer[i] = count[i];
  if (levels > 0 && levels < 9 && fewer[levels] > 1) fewer[levels]--;
  return PARMCI_PutS(s, ss, d, ds, levels < 9 ? fewer : count, levels, proc);
}
int ARMCI_Acc(int type, void *scale, void *s, void *d, int bytes, int proc) {
  if (bytes == 0) abort();
  return PARMCI_Acc(type, scale, s, d, bytes, proc);
}
int ARMCI_PutS_flag(void *s, int *ss, void *d, int *ds, int *count, int levels, int *flag, int value, int proc) {
  return PARMCI_PutS_flag(s, ss, d, ds, count, levels, flag, value, proc) + 1;
}
"""
SHOWN = {"XFER.XFER5_random_strided_shapes": "byte ", "ORD.ORD5_a_reader_of_the_flag_sees_the_data": "ARMCI_PutS_flag(",
         "XFER.XFER3_acc_contiguous_of_nothing": "ARMCI_Acc("}


def installed_defect(folder: Path, configuration: bazel.Configuration) -> tuple[ForeignLibrary, ForeignLibrary, Path]:
    """The defective library, the right one, and the file with the defects."""
    (folder / "lib").mkdir()
    (folder / "include").symlink_to(repository.ROOT / "spec")
    right = bazel.built("//impl/shmem:libarmci.so.1", configuration)
    for name in ("libarmci.so", "libarmci.so.1"):
        (folder / "lib" / name).symlink_to(right)
    source, defect = folder / "defect.c", folder / "lib" / "libdefect.so"
    source.write_text(DEFECT)
    made = run_command(["mpicc.openmpi", "-w", "-shared", "-fPIC", f"-I{folder / 'include'}", str(source), "-o", str(defect)])
    assert made.ok, made.output
    return (ForeignLibrary(folder, "-Wl,--no-as-needed -ldefect -larmci", "defective"), ForeignLibrary(folder, "-larmci", "right"),
            defect)


def test_each_failure_of_a_defective_library_gets_a_program_that_the_right_one_passes(tmp_path: Path) -> None:
    configuration = bazel.Configuration()
    binary = bazel.built("//conformance/record:suite_recorded", configuration)
    defective, right, defect = installed_defect(tmp_path, configuration)
    selection = conformance.Selection(conformance.exact_names(SHOWN), seed=7, quick=True,
                                      wrapper=("env", f"LD_PRELOAD={defect}"))
    run = conformance.run_suite(binary, "defective", configuration, 2, selection)
    assert {case.name for case in run.cases if case.outcome == FAILED} == set(SHOWN)
    made = maker.make(run, defective, binary, tmp_path / "programs")
    assert {one.test for one in made if one.file} == set(SHOWN), made
    for one in made:
        assert one.file and len(one.file.read_text().splitlines()) <= program.LINES_MAX
        assert maker.compile_program(one.file, tmp_path / "p", defective, "openmpi")
        assert SHOWN[one.test] in maker.failure_of(tmp_path / "p", configuration, 2)
        assert maker.compile_program(one.file, tmp_path / "p", right, "openmpi")
        assert maker.failure_of(tmp_path / "p", configuration, 2) == ""
