"""Columns, tables, files and where an error is in them."""
