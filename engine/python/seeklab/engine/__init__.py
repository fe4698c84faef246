"""The engine behind one protocol: each host has its own way to load it, call it and read its answers."""
