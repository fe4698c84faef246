"""The tasks of the notebooks, one module each."""
