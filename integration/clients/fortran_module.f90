! A client in Fortran, by the module that is installed as source.
program fortran_module_client
  use, intrinsic :: iso_c_binding
  use armci
  use mpi_f08, only: MPI_Comm, MPI_COMM_WORLD, MPI_IN_PLACE, MPI_INTEGER, MPI_SUM, MPI_THREAD_SINGLE, &
    MPI_Init, MPI_Finalize, MPI_Comm_dup, MPI_Comm_free, MPI_Allreduce
  implicit none
  integer, parameter :: length = 100, times = 50
  type(c_ptr), allocatable :: parts(:)
  real(c_double), pointer :: mine(:)
  real(c_double), target :: buffer(length), scale
  integer(c_long), target :: before
  integer(c_long), pointer :: counter
  integer(c_int) :: me, processes, next, wrong(1), i, bytes, status, number
  type(ARMCI_Group) :: world
  type(armci_hdl_t), asynchronous :: handle
  type(MPI_Comm) :: comm

  wrong = 0
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call count_if(ARMCIX_Init_comm_f(MPI_THREAD_SINGLE, comm%MPI_VAL) /= 0)
  call MPI_Comm_free(comm)
  me = armci_msg_me()
  processes = armci_msg_nproc()
  next = mod(me + 1, processes)
  bytes = length * 8
  allocate(parts(processes))

  ! The part after the numbers is a counter.
  call count_if(ARMCI_Malloc(parts, int(bytes + 8, c_long)) /= 0)
  call c_f_pointer(parts(me + 1), mine, [length + 1])
  call c_f_pointer(c_loc(mine(length + 1)), counter)
  mine = 0
  counter = 0
  call ARMCI_Barrier()

  buffer = [(real(me * 1000 + i, c_double), i = 1, length)]
  call count_if(ARMCI_Put(c_loc(buffer), parts(next + 1), bytes, next) /= 0)
  call ARMCI_Barrier()
  scale = 2
  buffer = 1
  do i = 0, processes - 1
    call count_if(ARMCI_Acc(ARMCI_ACC_DBL, c_loc(scale), c_loc(buffer), parts(i + 1), bytes, i) /= 0)
  end do
  call ARMCI_Barrier()
  call count_if(ARMCI_Get(parts(next + 1), c_loc(buffer), bytes, next) /= 0)
  do i = 1, length
    call count_if(buffer(i) /= me * 1000 + i + 2 * processes)
  end do

  ! By a handle, and without one.
  buffer = 0
  call ARMCI_INIT_HANDLE(handle)
  call count_if(ARMCIX_NbGet(parts(next + 1), c_loc(buffer), int(bytes, c_size_t), next, handle) /= 0)
  call count_if(ARMCI_Wait(handle) /= 0)
  call count_if(buffer(length) /= me * 1000 + length + 2 * processes)
  call count_if(ARMCIX_NbGet(parts(next + 1), c_loc(buffer), int(bytes, c_size_t), next) /= 0)
  call count_if(ARMCI_WaitProc(next) /= 0)

  ! The communicator of the world, and a sum by MPI over it.
  call ARMCI_Group_get_world(world)
  call count_if(ARMCIX_Group_comm_f(world, number) /= ARMCI_OK)
  comm%MPI_VAL = number
  number = 1
  call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, MPI_SUM, comm)
  call count_if(number /= processes)

  do i = 1, times
    call count_if(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, c_loc(before), address(parts(1), bytes), 1_c_int, 0_c_int) /= 0)
    call count_if(before < 0 .or. before >= times * processes)
  end do
  call ARMCI_Barrier()
  if (me == 0) call count_if(counter /= times * processes)

  call ARMCI_Barrier()
  call shapes()
  call group_of(world)

  call armci_msg_igop(wrong, 1_c_int, '+' // c_null_char)
  call ARMCI_Barrier()
  status = ARMCI_Free(parts(me + 1))
  status = ARMCI_Finalize()
  call MPI_Finalize()
  if (me == 0 .and. wrong(1) == 0) print '(a,i0,a)', 'fortran_module: PASS, ', processes, ' processes'
  if (me == 0 .and. wrong(1) /= 0) print '(a,i0)', 'fortran_module: FAIL, ', wrong(1)
  if (wrong(1) /= 0) stop 1

contains

  subroutine count_if(is_wrong)
    logical, intent(in) :: is_wrong
    if (is_wrong) wrong(1) = wrong(1) + 1
  end subroutine

  ! Shapes as expressions and constants: two columns of three numbers into a matrix of 10 rows, and back.
  subroutine shapes()
    integer(c_int), parameter :: counts(2) = [24, 2]
    real(c_double), target :: columns(4, 2), back(3, 2)
    real(c_double), pointer :: there(:)
    type(c_ptr), target :: from(2), to(2)
    type(c_ptr) :: extra(processes)
    columns = reshape([(real(i, c_double), i = 1, 8)], [4, 2])
    back = 0
    call c_f_pointer(parts(next + 1), there, [length])
    call count_if(ARMCI_PutS(c_loc(columns), [32], c_loc(there(11)), [80], counts, 1, next) /= ARMCI_OK)
    call count_if(ARMCIX_GetS(c_loc(there(11)), [80_c_intptr_t], c_loc(back), [24_c_intptr_t], int(counts, c_size_t), 1, &
      next) /= ARMCI_OK)
    call count_if(any(back /= columns(1:3, :)))
    call count_if(ARMCI_PutS(src=c_loc(back), dst=c_loc(there(31)), count=[48], stride_levels=0, proc=next) /= ARMCI_OK)
    call count_if(ARMCI_PutS(src=c_loc(back), dst=c_loc(there(31)), count=counts, stride_levels=1, proc=next) &
      /= ARMCI_ERR_NULL)
    from = [c_loc(columns(4, 1)), c_loc(columns(4, 2))]
    to = [c_loc(there(41)), c_loc(there(43))]
    call count_if(ARMCI_PutV([armci_giov_t(c_loc(from), c_loc(to), 8, 2)], 1, next) /= ARMCI_OK)
    call ARMCI_Barrier()
    call count_if(any(mine(21:23) /= columns(1:3, 2)) .or. any(mine(31:36) /= [1, 2, 3, 5, 6, 7]))
    call count_if(any(mine([41, 43]) /= columns(4, :)))
    call count_if(ARMCI_Malloc_memdev(extra, 8_c_long) /= ARMCI_OK)
    call count_if(ARMCI_Free_memdev(extra(me + 1)) /= ARMCI_OK)
    call ARMCI_Barrier()
  end subroutine

  ! Queries take a group that may not be changed.
  subroutine group_of(all)
    type(ARMCI_Group), intent(in) :: all
    type(ARMCI_Group) :: alone
    integer(c_int) :: rank, size
    call count_if(ARMCI_Group_rank(all, rank) /= ARMCI_OK .or. rank /= me)
    call ARMCI_Group_size(all, size)
    call count_if(size /= processes)
    call ARMCI_Group_create_child(1, [me], alone, all)
    call ARMCI_Group_size(alone, size)
    call count_if(size /= 1)
    call ARMCI_Group_free(alone)
    call count_if(ARMCI_Group_rank(alone, rank) /= ARMCI_ERR_GROUP)
  end subroutine

  type(c_ptr) function address(base, offset)
    type(c_ptr), intent(in) :: base
    integer(c_int), intent(in) :: offset
    integer(c_intptr_t) :: number
    number = transfer(base, number) + offset
    address = transfer(number, base)
  end function
end program
