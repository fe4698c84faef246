"""Columns, tables, files, and the places of errors in them."""
