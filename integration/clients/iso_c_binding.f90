! A client in Fortran, without Global Arrays: the C interface by ISO_C_BINDING. Addresses are type(c_ptr), lengths C's int.
module armci
  use iso_c_binding
  implicit none

  integer(c_int), parameter :: armci_acc_dbl = 3, armci_fetch_and_add_long = 1

  interface
    integer(c_int) function armci_init() bind(c, name='ARMCI_Init')
      import
    end function
    integer(c_int) function armci_finalize() bind(c, name='ARMCI_Finalize')
      import
    end function
    integer(c_int) function armci_malloc(parts, bytes) bind(c, name='ARMCI_Malloc')
      import
      type(c_ptr), intent(out) :: parts(*)
      integer(c_long), value :: bytes
    end function
    integer(c_int) function armci_free(part) bind(c, name='ARMCI_Free')
      import
      type(c_ptr), value :: part
    end function
    integer(c_int) function armci_put(src, dst, bytes, proc) bind(c, name='ARMCI_Put')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), value :: bytes, proc
    end function
    integer(c_int) function armci_get(src, dst, bytes, proc) bind(c, name='ARMCI_Get')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), value :: bytes, proc
    end function
    integer(c_int) function armci_acc(datatype, scale, src, dst, bytes, proc) bind(c, name='ARMCI_Acc')
      import
      integer(c_int), value :: datatype, bytes, proc
      type(c_ptr), value :: scale, src, dst
    end function
    integer(c_int) function armci_rmw(op, local, remote, value, proc) bind(c, name='ARMCI_Rmw')
      import
      integer(c_int), value :: op, value, proc
      type(c_ptr), value :: local, remote
    end function
    subroutine armci_barrier() bind(c, name='ARMCI_Barrier')
      import
    end subroutine
    integer(c_int) function armci_msg_me() bind(c, name='armci_msg_me')
      import
    end function
    integer(c_int) function armci_msg_nproc() bind(c, name='armci_msg_nproc')
      import
    end function
    subroutine armci_msg_igop(x, n, op) bind(c, name='armci_msg_igop')
      import
      integer(c_int), intent(inout) :: x(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(in) :: op(*)
    end subroutine
  end interface
end module armci

program iso_c_binding_client
  use armci
  implicit none
  integer, parameter :: length = 100, times = 50
  type(c_ptr), allocatable :: parts(:)
  real(c_double), pointer :: mine(:)
  real(c_double), target :: buffer(length), scale
  integer(c_long), target :: before
  integer(c_long), pointer :: counter
  integer(c_int) :: me, processes, next, wrong(1), i, bytes, status

  wrong = 0
  call count_if(armci_init() /= 0)
  me = armci_msg_me()
  processes = armci_msg_nproc()
  next = mod(me + 1, processes)
  bytes = length * 8
  allocate(parts(processes))

  ! The part after the numbers is a counter.
  call count_if(armci_malloc(parts, int(bytes + 8, c_long)) /= 0)
  call c_f_pointer(parts(me + 1), mine, [length + 1])
  call c_f_pointer(c_loc(mine(length + 1)), counter)
  mine = 0
  counter = 0
  call armci_barrier()

  buffer = [(real(me * 1000 + i, c_double), i = 1, length)]
  call count_if(armci_put(c_loc(buffer), parts(next + 1), bytes, next) /= 0)
  call armci_barrier()
  scale = 2
  buffer = 1
  do i = 0, processes - 1
    call count_if(armci_acc(armci_acc_dbl, c_loc(scale), c_loc(buffer), parts(i + 1), bytes, i) /= 0)
  end do
  call armci_barrier()
  call count_if(armci_get(parts(next + 1), c_loc(buffer), bytes, next) /= 0)
  do i = 1, length
    call count_if(buffer(i) /= me * 1000 + i + 2 * processes)
  end do

  do i = 1, times
    call count_if(armci_rmw(armci_fetch_and_add_long, c_loc(before), address(parts(1), bytes), 1_c_int, 0_c_int) /= 0)
    call count_if(before < 0 .or. before >= times * processes)
  end do
  call armci_barrier()
  if (me == 0) call count_if(counter /= times * processes)

  call armci_msg_igop(wrong, 1_c_int, '+')
  call armci_barrier()
  status = armci_free(parts(me + 1))
  status = armci_finalize()
  if (me == 0 .and. wrong(1) == 0) print '(a,i0,a)', 'iso_c_binding: PASS, ', processes, ' processes'
  if (me == 0 .and. wrong(1) /= 0) print '(a,i0)', 'iso_c_binding: FAIL, ', wrong(1)
  if (wrong(1) /= 0) stop 1

contains

  subroutine count_if(is_wrong)
    logical, intent(in) :: is_wrong
    if (is_wrong) wrong(1) = wrong(1) + 1
  end subroutine

  type(c_ptr) function address(base, offset)
    type(c_ptr), intent(in) :: base
    integer(c_int), intent(in) :: offset
    integer(c_intptr_t) :: number
    number = transfer(base, number) + offset
    address = transfer(number, base)
  end function
end program
