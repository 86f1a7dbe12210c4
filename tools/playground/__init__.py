"""The playground: one page in which the C core, as WebAssembly, learns beside the problems' own C code."""
