// Linked into the programs, not into the library: operator new and delete from mimalloc. Building and dropping ASTs is the
// search's inner loop, and half of its time is the allocator (bench/score_bench: lowering 1.7x faster than with glibc's).
#include <mimalloc-new-delete.h>
