"""The Fortran module, made of the table of functions and of the types and constants of the public headers."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from typing import NamedTuple, Protocol

MODULE = """\
! armci.f90 - ARMCI for Fortran 2018. Compile this file (gfortran: -std=f2018 or none; the program may be older), then:
!
!   use, intrinsic :: iso_c_binding     directly: not every compiler takes c_loc's result by way of another module
!   use armci
!
! armci.h, message.h and armcix.h describe each function. Its arguments here:
!   void *        type(c_ptr), value: c_loc(x) is the address of x, which then needs the attribute target.
!                 A remote address is a type(c_ptr) too, as ARMCI_Malloc returns it.
!   int n         integer(c_int), value; size_t and uint64_t are integer(c_size_t) and integer(c_int64_t).
!   int x[]       integer(c_int) :: x(*)
!   int *x        integer(c_int), by reference.
!   const char *  character(kind=c_char) :: x(*), ended by c_null_char: "+" // c_null_char
!   NULL          an argument left out: numbers by reference, handles, groups, strides, skip and device are
!                 optional. For a type(c_ptr) it is c_null_ptr.
!   MPI_Comm      not here: ARMCIX_Init_comm_f and ARMCIX_Group_comm_f take and return the integer of a communicator.
! Element i of the part of process p is c_loc(x(i)) after call c_f_pointer(parts(p + 1), x, [n]), on every node.
! An array section with gaps has no single c_loc: of x(1:9:2) it is that of x(1), so describe it by strides.
! A buffer of a non-blocking operation, and its handle, have the attribute asynchronous or target in the program.
module armci
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! Under a flag that changes the size of a kind, such as -freal-4-real-8, C would get wrong numbers: the compiler reports a
  ! division by zero here.
  integer, parameter, private :: kinds_of_c = 1 / merge(1, 0, storage_size(0_c_int) == 32 .and. &
    storage_size(0_c_int64_t) == 64 .and. storage_size(0._c_float) == 32 .and. storage_size(0._c_double) == 64)

{types}

{constants}

  interface
{functions}
  end interface
end module armci
"""

KINDS = {"int": "integer(c_int)", "long": "integer(c_long)", "armci_size_t": "integer(c_long)",
         "unsigned long": "integer(c_long)", "armci_long_long_t": "integer(c_long_long)", "size_t": "integer(c_size_t)",
         "ptrdiff_t": "integer(c_intptr_t)", "uint64_t": "integer(c_int64_t)", "MPI_Fint": "integer(c_int)",
         "float": "real(c_float)", "double": "real(c_double)", "char": "character(kind=c_char)",
         "armcix_mutex_hdl_t": "type(c_ptr)"}

# Addresses of numbers in a region of another process, or of bytes: a Fortran variable cannot stand for them.
ADDRESSES = {"flag", "signal", "buf"}

# Arguments that no call writes, although they are not const in C: expressions and constants may stand for them. But
# ARMCI_Group_free clears its group.
READ_ONLY = {"src_stride", "dst_stride", "stride", "count", "pids", "iov", "group", "parent"}
CLEARING = "ARMCI_Group_free"

# Arrays and texts for which C takes NULL.
NULLABLE = {"src_stride", "dst_stride", "skip", "device"}

# A communicator in front, 32 bytes in all, for every MPI library [ABI-1].
GROUP = "  type, bind(C) :: ARMCI_Group\n    integer(c_int64_t) :: opaque(4)\n  end type"


class Function(Protocol):
    """The properties that are needed of a row of the table."""

    @property
    def result(self) -> str: ...

    @property
    def weak(self) -> str: ...

    @property
    def parameters(self) -> str: ...


class Parameter(NamedTuple):
    """One parameter in C: const int x[] is ("int", "x", constant, "[]"), const char *s is ("char", "s", constant, "*")."""

    kind: str
    name: str
    constant: bool
    shape: str


def module(functions: list[Function], headers: list[str]) -> str:
    """The source of the module."""
    text = re.sub(r"/\*.*?\*/", "", "\n".join(headers), flags=re.DOTALL)
    kinds = {**KINDS, **{name: "integer(c_int)" for name in re.findall(r"typedef enum \{[^}]*\} (\w+);", text)}}
    structs = re.findall(r"typedef struct \w+ \{([^}]*)\} (\w+);", text)
    kinds.update({name: f"type({name})" for _, name in structs})
    _require_distinct([*(name for _, name in structs), *(function.weak for function in functions),
                       *re.findall(r":: (\w+) =", "\n".join(_constants(text)))])
    types = [GROUP if name == "ARMCI_Group" else _type(name, body, kinds) for body, name in structs]
    bodies = [_function(function, kinds) for function in functions if _has_form(function)]
    return MODULE.format(types="\n\n".join(types), constants="\n".join(_constants(text)), functions="\n\n".join(bodies))


def _require_distinct(names: list[str]) -> None:
    twice = sorted(name for name, times in Counter(name.lower() for name in names).items() if times > 1)
    if twice:
        raise SystemExit(f"fortran.py: the names {twice} differ only in upper and lower case, which Fortran does not "
                         "distinguish; next: rename one of each")


def _has_form(function: Function) -> bool:
    """Whether Fortran has its types: neither a communicator of C nor the arguments of main."""
    return not re.search(r"\bMPI_Comm\b|\*\*", function.result + function.parameters)


def _constants(text: str) -> list[str]:
    listed = [_value(one) for body in re.findall(r"enum \{([^}]*)\}", text) for one in body.split(",") if one.strip()]
    defined = re.findall(r"^#define (ARMCIX?_\w+) +(\S.*?) *$", text, re.MULTILINE)
    return [*(f"  integer(c_int), parameter :: {name} = {value}" for name, value in listed),
            *(_defined(name, value) for name, value in defined)]


def _defined(name: str, value: str) -> str:
    if re.fullmatch(r"-?\d+", value):
        return f"  integer(c_int), parameter :: {name} = {value}"
    bit = re.fullmatch(r"\(\(uint64_t\)1 << (\d+)\)", value)
    if not bit:
        raise SystemExit(f"fortran.py: cannot read #define {name} {value}; next: write a decimal number, or a bit as "
                         "((uint64_t)1 << NUMBER)")
    return f"  integer(c_int64_t), parameter :: {name} = shiftl(1_c_int64_t, {bit.group(1)})"


def _value(enumerator: str) -> tuple[str, str]:
    found = re.fullmatch(r"(\w+) = (-?\d+)", enumerator.strip())
    if not found:
        raise SystemExit(f"fortran.py: cannot read the enumerator {enumerator.strip()!r}; next: write it as NAME = NUMBER")
    return found.group(1), found.group(2)


def _type(name: str, body: str, kinds: dict[str, str]) -> str:
    fields = [parameter(field) for field in body.split(";") if field.strip()]
    lines = [f"    {'type(c_ptr)' if '*' in field.shape else _kind(field.kind, kinds)} :: {field.name}"
             + field.shape.replace("*", "").replace("[", "(").replace("]", ")") for field in fields]
    return "\n".join([f"  type, bind(C) :: {name}", *lines, "  end type"])


def parameter(text: str) -> Parameter:
    """The parts of a parameter or a field in C."""
    found = re.fullmatch(r"(const )?\s*([\w ]+?)\s*([*\s]*)\b(\w+)\s*(\[\d*\])?", text.strip())
    if not found:
        raise SystemExit(f"fortran.py: cannot read the parameter {text!r}; next: write it as TYPE *NAME or TYPE NAME[]")
    constant, kind, stars, name, brackets = found.groups()
    return Parameter(kind, name, bool(constant), stars.replace(" ", "") + (brackets or ""))


def _declared(given: Parameter, function: str, kinds: dict[str, str]) -> str:
    """The declaration of a dummy argument of the function."""
    if given.shape == "":
        return f"{_kind(given.kind, kinds)}, value :: {given.name}"
    if given.kind == "void" and given.shape == "*[]":
        return f"type(c_ptr), intent(inout) :: {given.name}(*)"
    if given.kind == "void" or given.name in ADDRESSES:
        return f"type(c_ptr), value :: {given.name}"
    array = given.shape == "[]" or given.kind == "char"
    read = given.constant or (given.name in READ_ONLY and function != CLEARING)
    intent = "intent(in)" if read else "intent(inout)"
    optional = "" if array and given.name not in NULLABLE else ", optional"
    return f"{_kind(given.kind, kinds)}, {intent}{optional} :: {given.name}{'(*)' if array else ''}"


def _kind(kind: str, kinds: dict[str, str]) -> str:
    """The type in Fortran of a type in C."""
    if kind not in kinds:
        raise SystemExit(f"fortran.py: the type {kind!r} of C has no type of Fortran; next: add it to KINDS")
    return kinds[kind]


def _function(function: Function, kinds: dict[str, str]) -> str:
    inside = function.parameters.strip()[1:-1]
    given = [] if inside == "void" else [parameter(one) for one in inside.split(",")]
    word = "subroutine" if function.result == "void" else "function"
    first = textwrap.wrap(f"{word} {function.weak}({', '.join(one.name for one in given)})", 110)
    lines = ["    " + " &\n        ".join([*first, f'bind(C, name="{function.weak}")']), "      import"]
    lines += [f"      {_declared(one, function.weak, kinds)}" for one in given]
    if word == "function":
        lines.append(f"      {'type(c_ptr)' if '*' in function.result else _kind(function.result, kinds)} :: {function.weak}")
    return "\n".join([*lines, f"    end {word}"])
