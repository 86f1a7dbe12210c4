"""The exact reference: the controller of SPEC.md on objects and unbounded integers.

Written from SPEC.md and spec.toml alone, sharing no code with the C core or the Python twin, and built
differently: balls, counts and values are objects, and the words of the block are written down from them on
request. The recorded streams of tests/vectors come from here, so that a mistake common to both twins, or a
sentence of SPEC.md that does not say what the twins do, shows up as a difference.

The modules follow the sections of SPEC.md: `numbers` (2, 4), `memory` and `model` (3), `values` and `rank` (5), `learn`
and `reference` (6), `counts` and `reclaim` (7), `adapt` (8). `recipes` and
`streams` write the recorded streams (`make core`). A host alone runs it: no board gets these files.
"""
