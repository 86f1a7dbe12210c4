"""What `adamb port` writes."""
