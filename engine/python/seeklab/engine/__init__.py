"""The engine behind one protocol: how each host loads it, calls it and reads its answers."""
