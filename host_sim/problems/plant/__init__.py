"""Small simulated plants, to see a controller learn before anything is wired; `adamb port` has loops."""
