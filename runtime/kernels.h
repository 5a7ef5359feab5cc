// The kernels of one library as functions: `lehr export --out DIR --name kernels` writes it, this header, and
// below it a function for each workload. C11 and C++; no other header is needed.
//
//     kernels_context* context = kernels_create(2);          // threads
//     kernels_gemm_m512_n512_k512(context, a, b, c);         // KERNELS_OK, or see kernels_message()
//     kernels_destroy(context);
//
// A context serves one call at a time; threads that call at the same time have one each. Nothing here throws,
// prints or reads the environment.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define KERNELS_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the structs and functions below. The library tells its own.
#define KERNELS_FORMAT 1
KERNELS_API uint32_t kernels_format(void);

typedef int32_t kernels_status;
enum {
  KERNELS_OK = 0,
  /// A null pointer, a misaligned one, a number of rows that has no kernel, memory that was packed by another
  /// library.
  KERNELS_BAD_ARGUMENT = 1,
  /// The library has no kernel for this that the processor, or the GPU, runs.
  KERNELS_NO_KERNEL = 2,
  KERNELS_NO_MEMORY = 3,
  /// A self-test: the kernel computes something else here than it is to compute.
  KERNELS_WRONG_RESULT = 4,
  /// CUDA's driver refused: the sentence has its name for the reason.
  KERNELS_DRIVER_ERROR = 5
};

typedef struct kernels_context kernels_context;

/// The host's thread pool: calls work(context, i) for i in [0, workers), each once, on any threads, and
/// returns when all have returned. It throws nothing through the library.
typedef void (*kernels_parallel_for)(void* pool, uint32_t workers,
                                     void (*work)(void* context, uint32_t worker), void* context);

/// Options of a new context. Zeros: one thread, everything that the processor has.
typedef struct kernels_options {
  uint32_t threads;  ///< 0 and 1: the calling thread alone; at most 4096
  /// 1: the context is for a GPU: the context of CUDA that is current on the calling thread, which has to
  /// outlive this one, or where none is the primary one of `cuda_device`, which is retained until the end.
  uint32_t cuda;
  int32_t cuda_device;
  /// 1: kernels_self_test() of all functions; there is no context where one fails.
  uint32_t self_test;
  /// Names of processor features, separated by spaces, that kernels may use: fewer than the processor has. A
  /// kernel needs all that its compiler was allowed (manifest.json has them). NULL: all that it has.
  const char* features;
  /// As kernels_use(); with it no threads are started. NULL: the context's own pool.
  kernels_parallel_for parallel_for;
  void* pool;
} kernels_options;

/// Makes a context: chooses for each function the kernel for this processor and number of threads (the
/// nearest number where none was tuned for it), or loads the kernels that this GPU runs. `interface` is
/// KERNELS_INTERFACE. NULL with one sentence in `message` (which may be NULL; `message_bytes` of it) where
/// the header is another library's, where nothing runs here, and where memory or threads are missing.
KERNELS_API kernels_context* kernels_create_for(uint64_t interface, const kernels_options* options,
                                                char* message, size_t message_bytes);
/// Returns KERNELS_INTERFACE of the header that came with the library.
KERNELS_API uint64_t kernels_interface(void);
/// Ends a context. NULL is allowed; no call may be running.
KERNELS_API void kernels_destroy(kernels_context* context);
/// Returns one sentence about the last call that did not succeed; "" before there was one. Valid until the
/// next.
KERNELS_API const char* kernels_message(const kernels_context* context);
/// Gives the next calls to the host's threads; NULL: to the context's own pool, or to the calling thread
/// where it has none.
KERNELS_API void kernels_use(kernels_context* context, kernels_parallel_for parallel_for, void* pool);
/// Puts the kernels of the next calls on this stream (CUstream, cudaStream_t) of the context's GPU; NULL: on
/// the default stream, as a new context does. Calls of one context use the same workspaces: streams
/// that may run at the same time need a context each.
KERNELS_API void kernels_stream(kernels_context* context, void* stream);

enum { KERNELS_IN = 0, KERNELS_OUT = 1 };
enum { KERNELS_CPU = 1, KERNELS_CUDA = 2 };
#define KERNELS_MOST_DIMENSIONS 8

/// An argument of a function.
typedef struct kernels_tensor {
  const char* name;  ///< "a", "b", "c", "bias", ...
  const char* type;  ///< "f32", "bf16", "u8", ...
  uint32_t role;     ///< KERNELS_IN, KERNELS_OUT
  /// 1: it stays as it is from call to call; the argument is what kernels_pack() has made of it.
  uint32_t packed;
  uint32_t alignment;   ///< bytes
  uint32_t dimensions;  ///< outermost first
  uint64_t shape[KERNELS_MOST_DIMENSIONS];
  uint64_t strides[KERNELS_MOST_DIMENSIONS];  ///< in elements
  uint64_t bytes;
  /// Bytes of a row in a tensor that has as many rows as a call says; `bytes` and `shape` are those of the
  /// most rows. Else 0.
  uint64_t row_bytes;
} kernels_tensor;

typedef struct kernels_function {
  const char* name;      ///< in C
  const char* workload;  ///< canonical text, in the words of `lehr`
  const kernels_tensor* tensors;
  uint32_t tensor_count;
  uint32_t target;  ///< KERNELS_CPU, KERNELS_CUDA
  /// How many rows a call may have, where it says how many; 0: their number is fixed.
  uint64_t least_rows, most_rows;
} kernels_function;

/// Return all functions, whether they run here or not; `index` counts from 0. NULL behind the last one.
KERNELS_API uint32_t kernels_count(void);
KERNELS_API const kernels_function* kernels_at(uint32_t index);
/// Returns the context's function for a workload, as kernels_function::workload spells it: its operator, then
/// fields in any order, as "gemm m=64 n=1000 k=512 epilogue=bias". A field may be left out that has the value
/// which it has usually ("a=f32:row", "batch=1"). A number of rows, or a range of them ("m=16..64"), finds
/// the function of a range that has it. NULL where there is none that runs here; kernels_message() says why,
/// and how one is tuned.
KERNELS_API const kernels_function* kernels_find(kernels_context* context, const char* workload);

/// The tuned kernels that a context runs a function with.
typedef struct kernels_row {
  const char* kernel;     ///< the name of its code; of several that for the most rows
  const char* device;     ///< that it was tuned on
  const char* arch;       ///< "avx512", "sm_90a", ...
  uint32_t threads;       ///< that it was tuned with; 0: a GPU's
  uint32_t cold;          ///< 1: tuned and timed with cold caches
  double time_us;         ///< as it was timed; of the most rows, or those that were asked for
  double max_error;       ///< largest distance from a result in double precision when it was measured
  uint32_t other_device;  ///< 1: tuned on a GPU of another architecture or number of multiprocessors
  uint32_t from_ptx;      ///< 1: compiled by the driver for this GPU, newer than the one it was tuned on
} kernels_row;
/// Fills `row`; `rows`: of so many rows, as a call may have; 0 for the most or where their number is fixed.
KERNELS_API kernels_status kernels_describe(kernels_context* context, const kernels_function* function,
                                            uint64_t rows, kernels_row* row);

/// Calls a function by its row of the table: `arguments` in the order of its tensors, `rows` 0 where their
/// number is fixed. Every output is written whole, whatever lay there before; outputs overlap nothing. For a
/// GPU the addresses are the device's, and the call puts the kernel on the context's stream and returns:
/// nothing is allocated, loaded or waited for, so that a stream in capture takes it.
KERNELS_API kernels_status kernels_call(kernels_context* context, const kernels_function* function,
                                        void* const* arguments, uint64_t rows);
/// Returns the bytes of a packed operand; 0 where the function has none, and where none runs here.
KERNELS_API uint64_t kernels_pack_bytes(kernels_context* context, const kernels_function* function);
/// Brings the operand that stays as it is (a filter, a constant B) into the form that the context's kernel
/// reads, in memory of the caller, aligned to 64 bytes. It is whole: the operand itself is not needed any
/// more. All contexts of the library that may use the same processor features take it, whatever their number
/// of threads.
KERNELS_API kernels_status kernels_pack(kernels_context* context, const kernels_function* function,
                                        const void* operand, void* packed);
/// Runs the function's kernels once, on the calling thread (what packs, on the context's), and memory of
/// their own, with input that the library knows the output of, in double precision, at some places; of a NULL
/// function all that run here. KERNELS_WRONG_RESULT where that is another one, or where an element is not
/// written. KERNELS_OK, and nothing is run, where the library knows no output, and on a GPU.
KERNELS_API kernels_status kernels_self_test(kernels_context* context, const kernels_function* function);

#ifdef __cplusplus
}
#endif
