"""What people see in a terminal: tables, progress, a run while it runs."""
