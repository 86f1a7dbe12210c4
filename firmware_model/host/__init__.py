"""The C core for Python on a host; nothing here goes to a board."""


class StaleCore(ImportError):
    """The compiled core was built of other files than those that are here."""
