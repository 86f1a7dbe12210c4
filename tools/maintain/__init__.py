"""For those who change the program: generated files, documents, twins side by side."""
