"""Blocks of the controller seen from a host: views, recordings, storage in a file."""
