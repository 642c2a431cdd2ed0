! Global Arrays from Fortran: single elements, every other element, pending operations, mutexes, a group for each half
! of the processes, and ghost cells.
program fortran_parts
  use checks
  implicit none
  integer, parameter :: side = 48
  integer :: array

  call begin()
  call check(nga_create(mt_dbl, 2, (/side, side/), 'array', (/-1, -1/), array))
  call elements()
  call every_other()
  call under_way()
  call counted_under_a_mutex()
  call groups()
  call ghosts()
  call check(ga_destroy(array))
  call finish('fortran_parts')

contains

  ! A diagonal for each process.
  subroutine elements()
    double precision :: values(side), back(side)
    integer :: places(2, side), i, me, processes
    me = ga_nodeid()
    processes = ga_nnodes()
    call ga_zero(array)
    do i = 1, side
      places(:, i) = (/i, mod(i + me, side) + 1/)
      values(i) = value(i, places(2, i))
    end do
    call nga_scatter(array, values, places, side)
    call ga_sync()
    call nga_scatter_acc(array, values, places, side, 2d0)
    call ga_sync()
    do i = 1, side
      places(2, i) = mod(i + mod(me + 1, processes), side) + 1
    end do
    call nga_gather(array, back, places, side)
    do i = 1, side
      call check(back(i) == 3 * value(i, places(2, i)))
    end do
    call ga_sync()
  end subroutine elements

  subroutine every_other()
    double precision :: part(side / 2, side / 2), whole(side, side)
    integer :: i, j
    call ga_zero(array)
    do j = 1, side / 2
      do i = 1, side / 2
        part(i, j) = value(i, j)
      end do
    end do
    if (ga_nodeid() == ga_nnodes() - 1) then
      call nga_strided_put(array, (/1, 1/), (/side - 1, side - 1/), (/2, 2/), part, (/side / 2/))
    end if
    call ga_sync()
    call nga_get(array, (/1, 1/), (/side, side/), whole, (/side/))
    do j = 1, side
      do i = 1, side
        if (mod(i, 2) == 1 .and. mod(j, 2) == 1) then
          call check(whole(i, j) == value((i + 1) / 2, (j + 1) / 2))
        else
          call check(whole(i, j) == 0d0)
        end if
      end do
    end do
    call ga_sync()
  end subroutine every_other

  subroutine under_way()
    double precision :: columns(side, side), back(side, side)
    integer :: handles(side), i, j
    do j = 1, side
      do i = 1, side
        columns(i, j) = value(i, j)
      end do
    end do
    do j = 1 + ga_nodeid(), side, ga_nnodes()
      call nga_nbput(array, (/1, j/), (/side, j/), columns(1, j), (/side/), handles(j))
    end do
    do j = 1 + ga_nodeid(), side, ga_nnodes()
      call nga_nbwait(handles(j))
    end do
    call ga_sync()
    do j = 1, side
      call nga_nbget(array, (/1, j/), (/side, j/), back(1, j), (/side/), handles(j))
    end do
    do j = side, 1, -1
      call nga_nbwait(handles(j))
      call check(all(back(:, j) == columns(:, j)))
    end do
    call ga_sync()
  end subroutine under_way

  ! What is read, changed and written back under a mutex is never lost.
  subroutine counted_under_a_mutex()
    integer, parameter :: rounds = 50
    double precision :: count(1)
    integer :: i
    call ga_zero(array)
    call check(ga_create_mutexes(2))
    do i = 1, rounds
      call ga_lock(1)
      call nga_get(array, (/2, 3/), (/2, 3/), count, (/1/))
      count = count + 1
      ! The put is at its target before the mutex is another's.
      call ga_init_fence()
      call nga_put(array, (/2, 3/), (/2, 3/), count, (/1/))
      call ga_fence()
      call ga_unlock(1)
    end do
    call ga_sync()
    call nga_get(array, (/2, 3/), (/2, 3/), count, (/1/))
    call check(count(1) == rounds * ga_nnodes())
    call check(ga_destroy_mutexes())
  end subroutine counted_under_a_mutex

  subroutine groups()
    integer :: half, first, last, group, part, i
    integer, allocatable :: members(:)
    double precision :: sum(1)
    half = ga_nnodes() / 2
    first = merge(0, half, ga_nodeid() < half)
    last = merge(half, ga_nnodes(), ga_nodeid() < half) - 1
    members = (/(i, i = first, last)/)
    group = ga_pgroup_create(members, last - first + 1)
    call check(ga_pgroup_nnodes(group) == last - first + 1)
    call check(ga_pgroup_nodeid(group) == ga_nodeid() - first)
    part = ga_create_handle()
    call ga_set_data(part, 1, (/last - first + 1/), mt_dbl)
    call ga_set_pgroup(part, group)
    call check(ga_allocate(part))
    sum(1) = ga_nodeid() + 1
    call nga_put(part, (/ga_nodeid() - first + 1/), (/ga_nodeid() - first + 1/), sum, (/1/))
    call ga_pgroup_sync(group)
    do i = first, last
      call nga_get(part, (/i - first + 1/), (/i - first + 1/), sum, (/1/))
      call check(sum(1) == i + 1)
    end do
    call ga_pgroup_dgop(group, 3, sum, 1, 'max')
    call check(sum(1) == last + 1)
    call check(ga_destroy(part))
    call check(ga_pgroup_destroy(group))
    call ga_sync()
  end subroutine groups

  ! Each process sees the edges of its neighbours, and the far sides round the corner.
  subroutine ghosts()
    integer :: wide, lo(2), hi(2), i, j
    double precision :: whole(side, side)
    double precision :: around(0:side + 1, 0:side + 1)
    call check(nga_create_ghosts(mt_dbl, 2, (/side, side/), (/1, 1/), 'wide', (/-1, -1/), wide))
    do j = 1, side
      do i = 1, side
        whole(i, j) = value(i, j)
      end do
    end do
    if (ga_nodeid() == 0) call nga_put(wide, (/1, 1/), (/side, side/), whole, (/side/))
    call ga_sync()
    call ga_update_ghosts(wide)
    call ga_sync()
    call nga_periodic_get(wide, (/0, 0/), (/side + 1, side + 1/), around, (/side + 2/))
    do j = 0, side + 1
      do i = 0, side + 1
        call check(around(i, j) == value(modulo(i - 1, side) + 1, modulo(j - 1, side) + 1))
      end do
    end do
    call nga_distribution(wide, ga_nodeid(), lo, hi)
    call check(hi(1) - lo(1) < side .and. hi(2) - lo(2) < side)
    call ga_sync()
    call check(ga_destroy(wide))
  end subroutine ghosts
end program fortran_parts
