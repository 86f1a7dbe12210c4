"""The exports of `adamb port`: `job` is what both kinds share, `c` and `micropython` make one kind each."""
