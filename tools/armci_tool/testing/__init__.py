"""`tools/armci test`: what it consists of (plan), what its steps do (work), and how they are run and reported (run)."""
