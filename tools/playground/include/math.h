/* The part of the C library's header that the worlds use, for a target without a library: instructions of WebAssembly. */
#define fabs __builtin_fabs
#define sqrt __builtin_sqrt
#define rint __builtin_rint
#define isinf __builtin_isinf
#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
