#!/usr/bin/python3
"""Writes the small matrices of this folder, so that readers can check where their numbers come from.

Both come from the 5-point finite-difference scheme on a grid of 11 x 7 inner points:
laplace.{rsa,mtx} is -u_xx - u_yy (symmetric), convection.{rua,mtx} adds an upwind first derivative in x.
Usage: make_matrices.py [FOLDER]
"""

import sys
from pathlib import Path

WIDTH, HEIGHT = 11, 7
CONVECTION = 0.375

Entries = dict[tuple[int, int], float]


def grid_matrix(convection: float) -> Entries:
    """Entries (row, column) -> value, counted from 0, of the scheme on the grid."""
    entries: Entries = {}
    for y in range(HEIGHT):
        for x in range(WIDTH):
            row = y * WIDTH + x
            entries[row, row] = 4.0 + convection
            if x > 0:
                entries[row, row - 1] = -1.0 - convection
            if x < WIDTH - 1:
                entries[row, row + 1] = -1.0
            if y > 0:
                entries[row, row - WIDTH] = -1.0
            if y < HEIGHT - 1:
                entries[row, row + WIDTH] = -1.0
    return entries


def by_columns(entries: Entries) -> list[tuple[int, int]]:
    return sorted(entries, key=lambda position: (position[1], position[0]))


def cards(fields: list[str], per_line: int) -> list[str]:
    return ["".join(fields[i : i + per_line]) for i in range(0, len(fields), per_line)]


def harwell_boeing(title: str, kind: str, size: int, entries: Entries) -> str:
    order = by_columns(entries)
    pointers = [1 + sum(1 for _, column in order if column < start) for start in range(size + 1)]
    sections = [
        cards([f"{pointer:5d}" for pointer in pointers], 16),
        cards([f"{row + 1:5d}" for row, _ in order], 16),
        cards([f"{entries[position]:15.8E}" for position in order], 5),
    ]
    counts = [len(section) for section in sections]
    header = [
        f"{title:<72}{'GRID':<8}",
        "".join(f"{count:14d}" for count in [sum(counts), *counts, 0]),
        f"{kind:<14}" + "".join(f"{number:14d}" for number in [size, size, len(order), 0]),
        f"{'(16I5)':<16}{'(16I5)':<16}{'(5E15.8)':<20}{'(5E15.8)':<20}".rstrip(),
    ]
    return "\n".join(header + [line for section in sections for line in section]) + "\n"


def matrix_market(title: str, symmetry: str, size: int, entries: Entries) -> str:
    lines = [f"%%MatrixMarket matrix coordinate real {symmetry}", f"% {title}", f"{size} {size} {len(entries)}"]
    lines += [f"{row + 1} {column + 1} {entries[row, column]:g}" for row, column in by_columns(entries)]
    return "\n".join(lines) + "\n"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    size = WIDTH * HEIGHT
    grid = f"on a grid of {WIDTH} x {HEIGHT} points"

    lower = {position: value for position, value in grid_matrix(0.0).items() if position[0] >= position[1]}
    title = f"Laplace operator {grid}"
    (folder / "laplace.rsa").write_text(harwell_boeing(title, "RSA", size, lower))
    (folder / "laplace.mtx").write_text(matrix_market(title, "symmetric", size, lower))

    full = grid_matrix(CONVECTION)
    title = f"Convection and diffusion {grid}"
    (folder / "convection.rua").write_text(harwell_boeing(title, "RUA", size, full))
    (folder / "convection.mtx").write_text(matrix_market(title, "general", size, full))


if __name__ == "__main__":
    main()
