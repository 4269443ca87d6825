"""TensorRT plans: built from a release's graph on the machine that serves it, and held against that graph."""

from converters.plans.build import build_plan
from converters.plans.spec import PlanSpec

__all__ = ["PlanSpec", "build_plan"]
