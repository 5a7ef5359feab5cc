// The kernels of one library as functions. `lehr export --out DIR --name kernels` writes the library and this
// header, with a function for each workload below. C11 and C++; no other header is needed.
//
//     kernels_context* context = kernels_create(2);          // threads
//     kernels_gemm_m512_n512_k512(context, a, b, c);         // KERNELS_OK, or see kernels_message()
//     kernels_destroy(context);
//
// A context serves one call at a time. Threads that call at the same time need a context each. No function
// here throws, prints or reads the environment.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define KERNELS_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the structs and functions below. kernels_format() returns the library's.
#define KERNELS_FORMAT 1
KERNELS_API uint32_t kernels_format(void);

typedef int32_t kernels_status;
enum {
  KERNELS_OK = 0,
  /// A null pointer, a misaligned one, a number of rows without a kernel, or memory that another library has
  /// packed.
  KERNELS_BAD_ARGUMENT = 1,
  /// The library has no kernel for this call that the processor, or the GPU, can run.
  KERNELS_NO_KERNEL = 2,
  KERNELS_NO_MEMORY = 3,
  /// A self-test failed: the kernel's results differ from the expected ones.
  KERNELS_WRONG_RESULT = 4,
  /// The CUDA driver returned an error; kernels_message() names it.
  KERNELS_DRIVER_ERROR = 5
};

typedef struct kernels_context kernels_context;

/// The host's thread pool. It calls work(context, i) for i in [0, workers), each once, on any threads, and
/// returns when all calls have returned. It must not throw through the library.
typedef void (*kernels_parallel_for)(void* pool, uint32_t workers,
                                     void (*work)(void* context, uint32_t worker), void* context);

/// Options of a new context. All zeros: one thread, with all features of the processor.
typedef struct kernels_options {
  uint32_t threads;  ///< 0 and 1: only the calling thread; at most 4096
  /// 1: the context is for a GPU. It uses the CUDA context that is current on the calling thread, which must
  /// outlive this one. If none is current, it retains the primary context of `cuda_device` until
  /// kernels_destroy().
  uint32_t cuda;
  int32_t cuda_device;
  /// 1: runs kernels_self_test() of all functions; no context is made if one fails.
  uint32_t self_test;
  /// Names of processor features, separated by spaces, that kernels may use, to use fewer than the processor
  /// has. A kernel needs all features that its compiler was allowed (manifest.json lists them). NULL: all.
  const char* features;
  /// The same as kernels_use(); then no threads are started. NULL: the context's own pool.
  kernels_parallel_for parallel_for;
  void* pool;
} kernels_options;

/// Makes a context. For each function it chooses the kernel for this processor and number of threads (the
/// nearest number if none was tuned for it), or it loads the kernels that the GPU can run. `interface` must
/// be KERNELS_INTERFACE. Returns NULL with one sentence in `message` (at most `message_bytes`; it may be
/// NULL) if the header belongs to another library, if no kernel runs here, or if memory or threads are
/// missing.
KERNELS_API kernels_context* kernels_create_for(uint64_t interface, const kernels_options* options,
                                                char* message, size_t message_bytes);
/// Returns KERNELS_INTERFACE of the header that belongs to the library.
KERNELS_API uint64_t kernels_interface(void);
/// Ends a context, which may be NULL. No call may be running.
KERNELS_API void kernels_destroy(kernels_context* context);
/// Returns one sentence about the last call that failed, or "" if none has. It is valid until the next call.
KERNELS_API const char* kernels_message(const kernels_context* context);
/// Runs the next calls on the host's threads. NULL: on the context's own pool, or on the calling thread if it
/// has none.
KERNELS_API void kernels_use(kernels_context* context, kernels_parallel_for parallel_for, void* pool);
/// Puts the kernels of the next calls on this stream (CUstream, cudaStream_t) of the context's GPU. NULL: on
/// the default stream, which a new context uses. Calls of one context share workspaces: streams that may run
/// at the same time need a context each.
KERNELS_API void kernels_stream(kernels_context* context, void* stream);

enum { KERNELS_IN = 0, KERNELS_OUT = 1 };
enum { KERNELS_CPU = 1, KERNELS_CUDA = 2 };
#define KERNELS_MOST_DIMENSIONS 8

/// An argument of a function.
typedef struct kernels_tensor {
  const char* name;  ///< "a", "b", "c", "bias", ...
  const char* type;  ///< "f32", "bf16", "u8", ...
  uint32_t role;     ///< KERNELS_IN, KERNELS_OUT
  /// 1: the operand is constant between calls; the argument is memory that kernels_pack() has filled.
  uint32_t packed;
  uint32_t alignment;   ///< bytes
  uint32_t dimensions;  ///< outermost first
  uint64_t shape[KERNELS_MOST_DIMENSIONS];
  uint64_t strides[KERNELS_MOST_DIMENSIONS];  ///< strides in elements
  uint64_t bytes;
  /// Bytes of one row, if calls give the number of rows; then `bytes` and `shape` are those of the most rows.
  /// 0 if the number is fixed.
  uint64_t row_bytes;
} kernels_tensor;

typedef struct kernels_function {
  const char* name;      ///< name of the function in C
  const char* workload;  ///< canonical text, as `lehr` writes it
  const kernels_tensor* tensors;
  uint32_t tensor_count;
  uint32_t target;  ///< KERNELS_CPU, KERNELS_CUDA
  /// The least and the most rows of a call, if calls give their number; 0: it is fixed.
  uint64_t least_rows, most_rows;
} kernels_function;

/// Return the number of functions, and the function at `index`, from 0. Functions that do not run here are
/// included. kernels_at() returns NULL after the last one.
KERNELS_API uint32_t kernels_count(void);
KERNELS_API const kernels_function* kernels_at(uint32_t index);
/// Returns the context's function for a workload, given as in kernels_function::workload: the operator, then
/// fields in any order, such as "gemm m=64 n=1000 k=512 epilogue=bias". A field with its default value may be
/// left out ("a=f32:row", "batch=1"). A number of rows, or a range of them ("m=16..64"), finds the function
/// whose range includes it. Returns NULL if no such function runs here; kernels_message() then says why, and
/// how to tune one.
KERNELS_API const kernels_function* kernels_find(kernels_context* context, const char* workload);

/// The tuned kernels that a context uses for a function.
typedef struct kernels_variant {
  const char* kernel;     ///< name of the kernel in the code; of several kernels, the one for the most rows
  const char* device;     ///< device that it was tuned on
  const char* arch;       ///< "avx512", "sm_90a", ...
  uint32_t threads;       ///< threads that it was tuned with; 0: a GPU's
  uint32_t cold;          ///< 1: tuned and timed with cold caches
  double time_us;         ///< measured microseconds, for the most rows or for the given number
  double max_error;       ///< largest difference from a result in double precision when it was measured
  uint32_t other_device;  ///< 1: tuned on a GPU of another architecture or number of multiprocessors
  uint32_t from_ptx;  ///< 1: compiled by the driver for this GPU, which is newer than the one it was tuned on
} kernels_variant;
/// Fills `variant` with the kernels for `rows` rows. 0 stands for the most rows, or for a fixed number.
KERNELS_API kernels_status kernels_describe(kernels_context* context, const kernels_function* function,
                                            uint64_t rows, kernels_variant* variant);

/// Calls a function. `arguments` are in the order of its tensors; `rows` is 0 if their number is fixed. Every
/// output is written completely, whatever it held before; outputs must not overlap any other argument. For a
/// GPU, the addresses are the device's, and the call only puts the kernel on the context's stream: it
/// allocates, loads and waits for nothing, so a stream in capture can record it.
KERNELS_API kernels_status kernels_call(kernels_context* context, const kernels_function* function,
                                        void* const* arguments, uint64_t rows);
/// Returns the bytes of a packed operand; 0 if the function has none, or if no kernel of it runs here.
KERNELS_API uint64_t kernels_pack_bytes(kernels_context* context, const kernels_function* function);
/// Packs the constant operand (a filter, a constant B) into the form that the context's kernel reads, in the
/// caller's memory, which must be aligned to 64 bytes. The operand itself is not needed afterwards. All
/// contexts of the library that may use the same processor features accept the packed memory, whatever their
/// number of threads.
KERNELS_API kernels_status kernels_pack(kernels_context* context, const kernels_function* function,
                                        const void* operand, void* packed);
/// Tests a function: runs its kernels once, on the calling thread (packing runs on the context's threads), in
/// memory of their own, on an input with known results. Compares some elements with results in double
/// precision. A NULL function tests all that run here. Returns KERNELS_WRONG_RESULT if an element differs or
/// is not written. Returns KERNELS_OK without running anything if no results are known, and on a GPU.
KERNELS_API kernels_status kernels_self_test(kernels_context* context, const kernels_function* function);

#ifdef __cplusplus
}
#endif
