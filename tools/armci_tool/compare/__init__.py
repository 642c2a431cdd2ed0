"""Several libraries under the same benchmarks, in turns: what is run, what it says, and how it is shown.

    contestants   who takes part            statistics   what samples say           pictures, page   for people
    plan, runner  who runs when, how long   cells        samples by what was asked  record           for scripts
    noise         how quiet the machine is  standings, guidelines, earlier          what follows from the cells
"""
