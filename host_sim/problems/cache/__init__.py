"""A cache divided between two tenants: as a formula, and simulated line by line."""
