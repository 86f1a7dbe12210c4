"""What AdaMB must beat: published learners, each in the leanest layout it can run in.

Rivals compute with doubles; their memory is counted as the 16-bit numbers a device would keep, so a byte
count is a lower bound for them and a comparison at equal bytes leans their way. Every rival takes `bonus`
(its one exploration constant c, tuned per problem in the literature), `size` and a byte budget.
"""
