"""The controller as hardware: a decision engine that reads the very same block. For chips, not for boards.

Needs the package `amaranth` (extra `chip`); nothing outside this folder imports it.
"""
