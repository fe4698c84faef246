"""Pasted output of tools, cut into blocks and parsed by one reader per tool.

`blocks(text, source)` never refuses a text. It returns the blocks that the readers recognise and the ranges of lines
between them. Commands decide what they can use.
"""

from seeklab.bring.block import Block, Skipped
from seeklab.bring.blocks import Found, blocks

__all__ = ["Block", "Found", "Skipped", "blocks"]
