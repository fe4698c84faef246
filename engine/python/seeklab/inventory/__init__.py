"""The concept inventory: thirty items whose keys are computed by runs, two forms, and the statistics of a study."""

from seeklab.inventory.items import ITEMS

__all__ = ["ITEMS"]
