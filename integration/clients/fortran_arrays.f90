! Arrays of Fortran and `use mpi` beside the installed module: blocks of a matrix by strides, tasks by a shared counter,
! and sums by MPI.
program fortran_arrays
  use, intrinsic :: iso_c_binding
  use mpi
  use armci
  implicit none
  integer, parameter :: rows = 40, columns = 12, tasks = 60, double_bytes = 8
  integer :: ierr, me, processes, next, wrong(1), all_wrong(1), provided
  type(c_ptr), allocatable :: parts(:), counters(:)
  real(c_double), pointer :: mine(:, :)
  integer(c_long), pointer :: counter

  wrong = 0
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, processes, ierr)
  next = mod(me + 1, processes)
  call expect(ARMCIX_Init_comm_f(MPI_THREAD_FUNNELED, MPI_COMM_WORLD) == ARMCI_OK, 'ARMCIX_Init_comm_f')
  allocate(parts(processes), counters(processes))
  call expect(ARMCI_Malloc(parts, int(rows * columns * double_bytes, c_long)) == ARMCI_OK, 'ARMCI_Malloc')
  call expect(ARMCI_Malloc(counters, int(merge(8, 0, me == 0), c_long)) == ARMCI_OK, 'ARMCI_Malloc of one process')
  call c_f_pointer(parts(me + 1), mine, [rows, columns])
  mine = me
  if (me == 0) then
    call c_f_pointer(counters(1), counter)
    counter = 0
  end if
  call ARMCI_Barrier()

  call blocks()
  call transposed_lines()
  call shared_tasks()
  call messages_beside()

  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call expect(ARMCI_Free(parts(me + 1)) == ARMCI_OK, 'ARMCI_Free')
  call expect(ARMCI_Free(merge_pointer(me == 0, counters(1))) == ARMCI_OK, 'ARMCI_Free of one process')
  call expect(ARMCI_Finalize() == ARMCI_OK, 'ARMCI_Finalize')
  if (me == 0 .and. all_wrong(1) == 0) print '(a,i0,a)', 'fortran_arrays: PASS, ', processes, ' processes'
  call MPI_Finalize(ierr)
  if (all_wrong(1) /= 0) stop 1

contains

  subroutine expect(holds, fact)
    logical, intent(in) :: holds
    character(*), intent(in) :: fact
    if (holds) return
    wrong(1) = wrong(1) + 1
    print '(a,i0,2a)', 'fortran_arrays: process ', me, ': not so: ', fact
  end subroutine

  type(c_ptr) function merge_pointer(is_mine, pointer)
    logical, intent(in) :: is_mine
    type(c_ptr), intent(in) :: pointer
    merge_pointer = c_null_ptr
    if (is_mine) merge_pointer = pointer
  end function

  ! Where element (i, j) of the matrix of a process is.
  type(c_ptr) function element(process, i, j)
    integer, intent(in) :: process, i, j
    real(c_double), pointer :: there(:, :)
    call c_f_pointer(parts(process + 1), there, [rows, columns])
    element = c_loc(there(i, j))
  end function

  ! A block of 5 by 4 from the middle of a local matrix into the middle of that of the next process, and its sum there.
  subroutine blocks()
    real(c_double), target :: local(10, 8), back(5, 4), twice
    integer(c_int) :: counts(2)
    integer :: i, j
    counts = [5 * double_bytes, 4]
    local = reshape([((real(1000 * me + 10 * j + i, c_double), i = 1, 10), j = 1, 8)], [10, 8])
    call expect(ARMCI_PutS(c_loc(local(3, 2)), [10 * double_bytes], element(next, 7, 3), [rows * double_bytes], counts, 1, &
      next) == ARMCI_OK, 'ARMCI_PutS')
    call ARMCI_Fence(next)
    twice = 2
    call expect(ARMCI_AccS(ARMCI_ACC_DBL, c_loc(twice), c_loc(local(3, 2)), [10 * double_bytes], element(next, 7, 3), &
      [rows * double_bytes], counts, 1, next) == ARMCI_OK, 'ARMCI_AccS')
    call expect(ARMCI_GetS(element(next, 7, 3), [rows * double_bytes], c_loc(back), [5 * double_bytes], counts, 1, next) &
      == ARMCI_OK, 'ARMCI_GetS')
    call expect(all(back == 3 * local(3:7, 2:5)), 'a block and its accumulate')
    call ARMCI_Barrier()
    i = mod(me + processes - 1, processes)
    call expect(all(mine(7:11, 3:6) == back + 3000 * (i - me)), 'the block of the process before')
    call expect(all(mine(:6, :) == me) .and. all(mine(12:, :) == me), 'elements beside the block')
    call ARMCI_Barrier()
  end subroutine

  ! A row of the matrix, whose elements lie a column apart, as a get of the other process's column.
  subroutine transposed_lines()
    real(c_double), target :: line(columns), got(columns)
    integer :: j
    line = [(real(100 * me + j, c_double), j = 1, columns)]
    call expect(ARMCIX_PutS(c_loc(line), [int(double_bytes, c_intptr_t)], element(next, 1, 1), &
      [int(rows * double_bytes, c_intptr_t)], [int(double_bytes, c_size_t), int(columns, c_size_t)], 1, next) == ARMCI_OK, &
      'ARMCIX_PutS')
    call ARMCI_Barrier()
    call expect(ARMCIX_GetS(element(next, 1, 1), [int(rows * double_bytes, c_intptr_t)], c_loc(got), &
      [int(double_bytes, c_intptr_t)], [int(double_bytes, c_size_t), int(columns, c_size_t)], 1, next) == ARMCI_OK, &
      'ARMCIX_GetS')
    call expect(all(got == line), 'a row of a matrix in columns')
    call ARMCI_Barrier()
  end subroutine

  ! Each process takes the next task, until there are no more; MPI sums which were done.
  subroutine shared_tasks()
    integer :: done(tasks), all_done(tasks)
    integer(c_long), target :: task
    done = 0
    do
      call expect(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, c_loc(task), counters(1), 1, 0) == ARMCI_OK, 'ARMCI_Rmw')
      if (task >= tasks) exit
      done(task + 1) = done(task + 1) + 1
    end do
    call MPI_Allreduce(done, all_done, tasks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(all(all_done == 1), 'each task is done once')
  end subroutine

  ! A receive of MPI is open while the processes wait in the library.
  subroutine messages_beside()
    real(c_double), asynchronous :: received(columns)
    real(c_double) :: sent(columns)
    integer :: request, before
    before = mod(me + processes - 1, processes)
    sent = me
    call MPI_Irecv(received, columns, MPI_DOUBLE_PRECISION, before, 3, MPI_COMM_WORLD, request, ierr)
    call ARMCI_Barrier()
    call MPI_Send(sent, columns, MPI_DOUBLE_PRECISION, next, 3, MPI_COMM_WORLD, ierr)
    call ARMCI_Barrier()
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(all(received == before), 'the message of the process before')
  end subroutine
end program
