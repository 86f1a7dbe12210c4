"""The controller on a chip: simulated cycle by cycle, synthesised and placed. Extra `chip`."""
