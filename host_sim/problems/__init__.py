"""The problems: a file or folder each; importing one registers its names."""
