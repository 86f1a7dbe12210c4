"""The exact reference of SPEC.md; `reference` says how it is built and which module follows which section."""
