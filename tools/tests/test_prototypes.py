"""The build's reader of prototypes finds every classic function: its file is plain enough to be run as Python."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from armci_tool.repository import ROOT
from generated import generated

FOLDER = ROOT / "third_party" / "foreign"


def parse(text: str) -> dict[str, str]:
    names: dict[str, Any] = {}
    exec(compile((FOLDER / "prototypes.bzl").read_text(), "prototypes.bzl", "exec"), names)  # noqa: S102
    found: dict[str, str] = names["parse_prototypes"](text)
    return found


def headers() -> list[Path]:
    """Those that the repository rule reads."""
    rule = (FOLDER / "repository.bzl").read_text()
    return [ROOT / "spec" / f"{name}.h" for name in re.findall(r'^ {16}"(\w+)",$', rule, re.MULTILINE)]


def test_one_prototype_over_several_lines() -> None:
    text = "/* int no(void); */\n#define X int no2(void)\nextern \"C\" {\nvoid *f(int a,\n        int b);\ntypedef int (*t)(int);\n"
    assert parse(text) == {"f": "void *f(int a, int b)"}


def test_every_function_with_a_profiling_twin_is_found() -> None:
    classic = {name for header in headers() for name in parse(header.read_text())}
    twins = set(parse(generated("parmci.h")))
    # Programs call this twin by its own name, so message.h declares it too.
    assert {name for name in twins if name not in classic} >= {"PARMCI_Put", "parmci_msg_igop"}
    unprefixed = {name[1:] for name in twins if not name.startswith("PARMCIX_")}
    assert unprefixed - classic == set()
    assert "ARMCI_Put" in classic and "armci_notify" in classic and "armci_msg_bintree" in classic


# Marks of the library itself: of its binary interface, and of which implementation it is.
_MARKS = {"armci_abi_version_1", "armci_implementation"}


def test_what_a_library_exports_is_what_the_headers_declare() -> None:
    public = [path.read_text() for path in (ROOT / "spec").glob("*.h") if path.stem not in ("abi_c90", "api_table")]
    declared = {name for text in (*public, generated("parmci.h")) for name in parse(text) if name.isidentifier()}
    listed = set(re.findall(r"^ {4}(\w+);$", generated("libarmci.map"), re.MULTILINE))
    before_mpi = {name for name in listed if name.lower().startswith("mpi_")}
    assert len(declared) > 300 and listed - before_mpi - _MARKS == declared


def test_a_row_of_the_table_becomes_a_declaration_and_two_exported_names() -> None:
    table = "#define T(X) \\\n  X(void *, PF, F, (g_t * g, int x[]), \\\n    (g, x))  \\\n  X(int, PE, E, (void), ())\n"
    assert "void *PF(g_t *g, int x[]);\nint PE(void);\n" in of_table("parmci.h", table)
    assert "    E;\n    F;\n    PE;\n    PF;\n" in of_table("libarmci.map", table)


def of_table(name: str, table: str, *headers: str) -> str:
    sys.path.insert(0, str(ROOT / "spec"))
    try:
        return str(runpy.run_path(str(ROOT / "spec" / "generate.py"))["generate"](name, table, list(headers)))
    finally:
        sys.path.remove(str(ROOT / "spec"))


TABLE = "#define T(X) \\\n  X(void *, PF, F, (const g_t * g, size_t x[], uint64_t *signal, char *op), (g, x, signal, op))\n"
HEADER = """typedef enum { A = 0, B = 1 } e_t; /* c */
typedef struct g_s {
  void **p; /* p */
  int n[2];
} g_t;
#define ARMCIX_BIT ((uint64_t)1 << 3)
"""


def test_a_row_of_the_table_becomes_an_interface_of_fortran() -> None:
    made = of_table("armci.f90", TABLE, HEADER)
    assert """    function F(g, x, signal, op) &
        bind(C, name="F")
      import
      type(g_t), intent(in), optional :: g
      integer(c_size_t), intent(inout) :: x(*)
      type(c_ptr), value :: signal
      character(kind=c_char), intent(inout) :: op(*)
      type(c_ptr) :: F
    end function
""" in made
    assert "  type, bind(C) :: g_t\n    type(c_ptr) :: p\n    integer(c_int) :: n(2)\n  end type\n" in made
    assert "parameter :: B = 1\n" in made and "parameter :: ARMCIX_BIT = shiftl(1_c_int64_t, 3)\n" in made


def test_what_no_call_writes_may_be_an_expression_in_fortran() -> None:
    row = "  X(int, P{0}, {0}, (int src_stride[], int x[], g_t *group, const char *device), (src_stride, x, group, device))\n"
    made = of_table("armci.f90", row.format("F"), HEADER)
    assert """      integer(c_int), intent(in), optional :: src_stride(*)
      integer(c_int), intent(inout) :: x(*)
      type(g_t), intent(in), optional :: group
      character(kind=c_char), intent(in), optional :: device(*)
""" in made
    assert "type(g_t), intent(inout), optional :: group" in of_table("armci.f90", row.format("ARMCI_Group_free"), HEADER)


def test_what_fortran_cannot_take_from_the_headers_is_refused() -> None:
    with pytest.raises(SystemExit, match="type 'short' of C has no type of Fortran; next: "):
        of_table("armci.f90", "  X(int, PF, F, (short n), (n))\n")
    with pytest.raises(SystemExit, match="cannot read the enumerator 'B'; next: "):
        of_table("armci.f90", TABLE, HEADER.replace("B = 1", "B"))
    with pytest.raises(SystemExit, match="cannot read #define ARMCIX_LIMIT 0x10; next: "):
        of_table("armci.f90", TABLE, HEADER + "#define ARMCIX_LIMIT 0x10 /* c */\n")
    assert "parameter :: ARMCIX_LIMIT = 16\n" in of_table("armci.f90", TABLE, HEADER + "#define ARMCIX_LIMIT 16 /* c */\n")


def test_names_that_fortran_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(SystemExit, match="'f'"):
        of_table("armci.f90", "  X(int, PF, F, (void), ())\n  X(int, Pf, f, (void), ())\n")
    with pytest.raises(SystemExit, match="'a'"):
        of_table("armci.f90", "  X(int, Pa, a, (void), ())\n", HEADER)


def test_every_function_without_a_type_of_c_alone_has_an_interface_in_fortran() -> None:
    made, names = generated("armci.f90"), set(re.findall(r"^ {4}(\w+);$", generated("libarmci.map"), re.MULTILINE))
    public = {name for name in names if "P" + name in names or "p" + name in names}
    missing = public - set(re.findall(r'bind\(C, name="(\w+)"\)', made))
    assert missing == {"ARMCI_Init_args", "ARMCI_Init_thread_comm", "ARMCI_Init_mpi_comm", "armci_group_comm"}


def test_the_header_for_cpp_calls_only_functions_that_are_there() -> None:
    called = set(re.findall(r"\b(ARMCIX?_\w+)\(", (ROOT / "spec" / "armci.hpp").read_text()))
    assert called <= set(re.findall(r"^ {4}(\w+);$", generated("libarmci.map"), re.MULTILINE))
