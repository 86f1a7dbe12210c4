"""Cross compiling the C core and running it on emulated processors."""
