! What the Fortran programs of this folder have in common, as checks.h for those in C. Integers have the length that Global
! Arrays was built with (-fdefault-integer-8); those of MPI have four bytes.
module checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer, private :: checked = 0, failed = 0

contains

  ! Starts MPI and Global Arrays. Collective.
  subroutine begin()
    integer(kind=4) :: status
    logical :: ok
    call mpi_init(status)
    call ga_initialize()
    ok = ma_init(mt_dbl, 100000, 1000000)
  end subroutine begin

  subroutine check(holds)
    logical, intent(in) :: holds
    checked = checked + 1
    if (.not. holds) failed = failed + 1
  end subroutine check

  ! Prints what came of it, and ends Global Arrays, MPI and the program. Collective.
  subroutine finish(name)
    character(len=*), intent(in) :: name
    integer :: counts(2)
    integer(kind=4) :: status
    counts = (/checked, failed/)
    call ga_igop(2, counts, 2, '+')
    if (ga_nodeid() == 0 .and. counts(2) == 0) then
      print '(a,a,i0,a,i0,a)', name, ': PASS, ', counts(1), ' checks on ', ga_nnodes(), ' processes'
    else if (ga_nodeid() == 0) then
      print '(a,a,i0,a,i0,a)', name, ': FAIL, ', counts(2), ' of ', counts(1), ' checks'
    end if
    call ga_terminate()
    call mpi_finalize(status)
    if (counts(2) /= 0) stop 1
  end subroutine finish

  ! Of an element, by its place.
  double precision function value(i, j)
    integer, intent(in) :: i, j
    value = 100d0 * i + j
  end function value
end module checks
