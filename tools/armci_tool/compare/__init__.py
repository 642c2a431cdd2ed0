"""Several libraries under the same benchmarks, in turns: what is run, what it says, and how it is shown.

    candidates    the compared libraries    statistics   what samples say            text, pictures, page  for people
    plan, runner  order and times of runs   cells        the table of measurements   record                for scripts
    noise         how quiet the machine is  ranking, guidelines, earlier             what follows from the cells
"""
