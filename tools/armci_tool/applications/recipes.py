"""The applications by name."""

from __future__ import annotations

from typing import Mapping

from armci_tool.applications import armci_mpi_tests, global_arrays, kernels, nwchem
from armci_tool.applications.recipe import Recipe

RECIPES: Mapping[str, Recipe] = {module.RECIPE.name: module.RECIPE for module in (global_arrays, nwchem, kernels, armci_mpi_tests)}
