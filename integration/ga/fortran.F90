! Global Arrays from Fortran: columns first, indices from 1. Patches, accumulate, a task pool, a matrix product and sums.
program fortran
  use checks
  implicit none
  integer, parameter :: side = 40, tasks = 200
  integer :: array, other, product_of, counter, process, processes, i, j
  integer :: drawn(1)
  logical :: ok
  double precision :: buffer(side, side), expected

  call begin()
  process = ga_nodeid()
  processes = ga_nnodes()

  call check(nga_create(mt_dbl, 2, (/side, side/), 'array', (/-1, -1/), array))
  call check(ga_duplicate(array, other, 'other'))
  call check(ga_duplicate(array, product_of, 'product'))

  ! Each process puts the columns of its turn.
  do j = 1 + process, side, processes
    do i = 1, side
      buffer(i, 1) = value(i, j)
    end do
    call nga_put(array, (/1, j/), (/side, j/), buffer, (/side/))
  end do
  call ga_sync()
  call nga_get(array, (/1, 1/), (/side, side/), buffer, (/side/))
  do j = 1, side
    do i = 1, side
      call check(buffer(i, j) == value(i, j))
    end do
  end do
  call ga_sync()

  ! All add to the same patch.
  buffer = 1d0
  call nga_acc(array, (/2, 3/), (/side - 1, side - 2/), buffer, (/side/), 0.5d0)
  call ga_sync()
  call nga_get(array, (/1, 1/), (/side, side/), buffer, (/side/))
  call check(buffer(1, 1) == value(1, 1))
  call check(buffer(2, 3) == value(2, 3) + 0.5d0 * processes)
  call check(buffer(side - 1, side - 2) == value(side - 1, side - 2) + 0.5d0 * processes)
  call ga_sync()

  ! A product with twice the unit matrix.
  call ga_zero(other)
  do i = 1 + process, side, processes
    call nga_put(other, (/i, i/), (/i, i/), (/2d0/), (/1/))
  end do
  call ga_sync()
  call ga_dgemm('n', 'n', side, side, side, 1d0, array, other, 0d0, product_of)
  call ga_add(1d0, product_of, -2d0, array, product_of)
  expected = ga_ddot(product_of, product_of)
  call check(expected == 0d0)

  ! Tasks are drawn once each.
  call check(nga_create(mt_int, 1, (/1/), 'counter', (/1/), counter))
  call ga_zero(counter)
  drawn = 0
  do while (nga_read_inc(counter, (/1/), 1) < tasks)
    drawn = drawn + 1
  end do
  call ga_igop(1, drawn, 1, '+')
  call check(drawn(1) == tasks)

  ok = ga_destroy(array) .and. ga_destroy(other) .and. ga_destroy(product_of) .and. ga_destroy(counter)
  call finish('fortran')
end program fortran
