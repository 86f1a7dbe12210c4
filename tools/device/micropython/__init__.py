"""The Python core as a board has it, in the real interpreter."""
