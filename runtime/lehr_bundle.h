// What the plug-in for ONNX Runtime needs to run the kernels of a bundle, the folder with a manifest that
// `lehr apply` puts beside a network: open it, find a kernel by its workload, run it on the engine's threads.
// C11 and C++. Other programs call a library's functions (runtime/kernels.h).
//
//     lehr_bundle bundle;
//     lehr_error error = {sizeof error};
//     if (lehr_open("kernels.bundle", NULL, &bundle, &error) != LEHR_OK) return fail(error.text);
//     lehr_kernel kernel;
//     lehr_find(bundle, "gemm m=512 n=512 k=512", NULL, &kernel, &error);
//     lehr_call call = {sizeof call, 3, params};
//     lehr_run(kernel, &call, &error);
//
// Kernels for CUDA are put on a stream of the program's by lehr_launch(). Their driver is loaded when a
// bundle that has some is opened; without one its kernels for the CPU run as before.
//
// Every function but the pool's may be called from any thread, at the same time; a bundle is closed when
// nobody uses its kernels. Nothing here throws, prints, reads the environment, or allocates while a kernel
// runs. Handles are numbers: one that is unknown or of a closed bundle is answered with LEHR_BAD_ARGUMENT.
//
// Structs begin with their size, which the caller sets to sizeof; later versions add members at their ends,
// and a shorter struct of an older program is read and filled as far as it goes.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// May be defined as nothing where the library is compiled into another one, which shows none of it.
#ifndef LEHR_API
#define LEHR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Grows when a function or a member is added; what is there keeps its meaning.
#define LEHR_BUNDLE_ABI 4

typedef int32_t lehr_status;
enum {
  LEHR_OK = 0,
  /// A null pointer, a misaligned one, too little scratch, a handle that is not open.
  LEHR_BAD_ARGUMENT = 1,
  /// The folder is no bundle, or a file of it is missing or not the one that was exported.
  LEHR_BAD_BUNDLE = 2,
  /// No kernel of it runs on this processor or GPU.
  LEHR_WRONG_DEVICE = 3,
  /// The bundle has none for that workload: use another implementation.
  LEHR_NO_KERNEL = 4,
  LEHR_NO_MEMORY = 5,
  /// A self-test: the kernel computes something else here than it is to compute.
  LEHR_WRONG_RESULT = 6,
  /// CUDA's driver refused: the sentence has its name for the reason.
  LEHR_DRIVER_ERROR = 7,
  /// LEHR_MOST_SHAPES are kept already: close the bundle and open it again.
  LEHR_TOO_MANY_SHAPES = 8,
};

/// One sentence about the last call that was given it; "" after one that succeeded.
typedef struct lehr_error {
  uint32_t size;
  char text[508];
} lehr_error;

typedef uint64_t lehr_bundle;  ///< 0: none
typedef uint64_t lehr_kernel;  ///< 0: none

/// LEHR_BUNDLE_ABI of the library that is loaded.
LEHR_API uint32_t lehr_bundle_abi(void);

typedef struct lehr_open_options {
  uint32_t size;
  /// Names of processor features, separated by spaces, that kernels may use, as "avx2 fma": fewer than the
  /// processor has. NULL: all that it has.
  const char* features;
  /// 1: lehr_self_test of every kernel that is loaded; opening fails where one fails.
  uint32_t self_test;
  /// Kernels for CUDA are loaded into the context that is current on the calling thread, which has to outlive
  /// the bundle. Where none is current: into the primary context of this device, which is retained until the
  /// bundle is closed.
  int32_t cuda_device;
} lehr_open_options;

/// Opens the bundle in `folder`: reads its manifest, compares the hash of every file that it is going to
/// load, and loads the kernels that this processor and the GPU can run. None is run but by a self-test.
/// `options` may be NULL. LEHR_BAD_BUNDLE, LEHR_WRONG_DEVICE where they can run none, LEHR_NO_MEMORY,
/// LEHR_DRIVER_ERROR. At most 1023 bundles are open at the same time.
LEHR_API lehr_status lehr_open(const char* folder, const lehr_open_options* options, lehr_bundle* bundle,
                               lehr_error* error);
LEHR_API lehr_status lehr_close(lehr_bundle bundle, lehr_error* error);

/// How many of its kernels run here, and each of them; `index` counts from 0.
LEHR_API lehr_status lehr_count(lehr_bundle bundle, uint32_t* count, lehr_error* error);
LEHR_API lehr_status lehr_at(lehr_bundle bundle, uint32_t index, lehr_kernel* kernel, lehr_error* error);

enum {
  LEHR_EXACT = 0,          ///< tuned for this workload, or a range that has it, and this number of threads
  LEHR_OTHER_THREADS = 1,  ///< tuned for this workload with another number of threads; right, perhaps slower
  /// Rows (or images) in parts of tuned sizes or ranges, one after the other, each computed exactly. The last
  /// part may compute rows a second time that another one has computed.
  LEHR_SPLIT = 2,
  LEHR_PADDED = 3,  ///< the next larger size that the bundle declares as a bucket, part of its work wasted
  LEHR_OTHER_DEVICE = 4,  ///< tuned for this workload on another GPU than this one; right, not timed here
};
enum { LEHR_ANY_TARGET = 0, LEHR_CPU = 1, LEHR_CUDA = 2 };

#define LEHR_MOST_SHAPES (1 << 20)

typedef struct lehr_find_options {
  uint32_t size;
  uint32_t threads;     ///< that it will run on; 0: any. GPUs' kernels run with any
  uint32_t only_exact;  ///< 1: no LEHR_SPLIT and no LEHR_PADDED
  uint32_t target;      ///< LEHR_CPU: for lehr_run(); LEHR_CUDA: for lehr_launch(); LEHR_ANY_TARGET
} lehr_find_options;

/// The kernel for a workload, in the words of `lehr`: its operator, then fields in any order, as
/// "gemm m=64 n=1000 k=512 epilogue=bias". A field that is left out has its usual value, as in the commands
/// of `lehr`; those without one (the sizes) are to be said. Where several match, the one for this GPU before
/// those for others, the one for `options->threads`, then the fastest. `options` may be NULL. LEHR_NO_KERNEL
/// where there is none: never a kernel that was tuned for something near. LEHR_NO_MEMORY.
///
/// Kernels that were tuned for a range answer for each number of rows in it as any kernel does, and for the
/// range as the bundle names it ("gemm m=1..2048 n=1000 k=512") as one whose calls say how many they have
/// (lehr_call::rows): these all take the same parameters, with what is prepacked laid out once.
///
/// What is none of the bundle's kernels as it was tuned (LEHR_SPLIT, LEHR_PADDED, LEHR_OTHER_THREADS, one
/// number of a range) is put together once for each text and number of threads, and kept until the bundle is
/// closed: LEHR_MOST_SHAPES of them, then LEHR_TOO_MANY_SHAPES.
LEHR_API lehr_status lehr_find(lehr_bundle bundle, const char* workload, const lehr_find_options* options,
                               lehr_kernel* kernel, lehr_error* error);

typedef struct lehr_kernel_info {
  uint32_t size;
  uint32_t answer;       ///< LEHR_EXACT, ...
  const char* workload;  ///< canonical text; as all texts here, valid until the bundle is closed
  const char* name;      ///< of the kernel's function; of the first part's where there are several
  const char* target;    ///< "cpu", "cuda"
  const char* arch;      ///< "avx512", "sm_90a", ...
  uint32_t threads;      ///< that it was tuned with; 0: a GPU's
  uint32_t params;       ///< how many lehr_call::params or lehr_launch_call::params has
  /// Expected on the tuned device: measured, or the sum over the parts and what lies between two calls.
  double time_us;
  double wasted;     ///< the share of its work that goes into padding or into rows computed twice, else 0
  double max_error;  ///< largest distance from a result in double precision when it was measured
  uint32_t parts;    ///< calls of kernels that it is made of
  uint32_t cold;     ///< 1: tuned and timed with cold caches
  uint32_t other_device;  ///< 1: tuned on a GPU of another architecture or number of multiprocessors
  uint32_t from_ptx;      ///< 1: the driver has compiled it for this GPU, newer than the one it was tuned on
  /// Of a kernel whose calls say how many rows they have: how many that may be. 0 of others.
  uint64_t least_rows;
  uint64_t most_rows;
} lehr_kernel_info;
LEHR_API lehr_status lehr_info(lehr_kernel kernel, lehr_kernel_info* info, lehr_error* error);

enum {
  LEHR_IN = 0,
  LEHR_OUT = 1,
  /// Memory of the caller that lehr_prepack fills, aligned to 64 bytes; behind the tensors.
  LEHR_PREPACKED = 2,
  /// CUDA: memory of the caller on the device, aligned to 256 bytes; behind the tensors. All of its bytes are
  /// zero before the first launch that gets it, nobody but launches of this kernel writes it from then on,
  /// and launches on two streams, or of two graphs, that may run at the same time do not get the same.
  LEHR_WORKSPACE = 3,
};

#define LEHR_MOST_DIMENSIONS 8

typedef struct lehr_param_info {
  uint32_t size;
  uint32_t role;       ///< LEHR_IN, ...
  const char* name;    ///< "a", "b", "c", "bias", ...
  const char* dtype;   ///< "f32", ...
  uint64_t bytes;      ///< dense, in the layout that the workload states
  uint32_t alignment;  ///< bytes
  uint32_t constant;   ///< 1: it stays as it is from one lehr_run to the next, and lehr_prepack may read it
  /// Of an output, where the bundle tells them: rows and columns of C, an image's in its layout, behind a
  /// batch.
  uint32_t dimensions;
  uint64_t shape[LEHR_MOST_DIMENSIONS];
  uint64_t strides[LEHR_MOST_DIMENSIONS];  ///< in elements
  /// Of a kernel whose calls say how many rows they have, in a tensor that has them: bytes of each. `bytes`
  /// and `shape` are those of the most rows. 0 of others.
  uint64_t row_bytes;
} lehr_param_info;
/// `index` counts from 0, in the order of lehr_call::params and lehr_launch_call::params.
LEHR_API lehr_status lehr_param(lehr_kernel kernel, uint32_t index, lehr_param_info* info, lehr_error* error);

/// Scratch memory of a call on so many workers. 0 is possible.
LEHR_API lehr_status lehr_scratch_bytes(lehr_kernel kernel, uint32_t workers, uint64_t* bytes,
                                        lehr_error* error);

/// The host's thread pool: calls work(context, i) for i in [0, workers), each once, on any threads, and
/// returns when all have returned. Less is right as well, as long as it calls it at least once.
typedef void (*lehr_parallel_for)(void* pool, uint32_t workers, void (*work)(void* context, uint32_t worker),
                                  void* context);

typedef struct lehr_call {
  uint32_t size;
  uint32_t param_count;
  void* const* params;  ///< lehr_param: tensors in the order of the workload, then prepacked memory
  void* scratch;        ///< aligned to 64 bytes, of this call alone while it runs; NULL where none is needed
  uint64_t scratch_bytes;          ///< at least lehr_scratch_bytes(kernel, workers)
  uint32_t workers;                ///< 0 and 1: the calling thread alone
  lehr_parallel_for parallel_for;  ///< NULL with one worker
  void* pool;                      ///< its first argument
  /// How many it has, where lehr_kernel_info::most_rows is not 0; else 0. lehr_prepack does not ask for them.
  uint64_t rows;
} lehr_call;

/// Computes all outputs, whatever lay in them before. Outputs and scratch overlap nothing: no output is an
/// input, a residual neither, since a part may compute rows again that were written by another. Of that a
/// library that is compiled without NDEBUG assures itself (LEHR_BAD_ARGUMENT), in all calls that write.
LEHR_API lehr_status lehr_run(lehr_kernel kernel, const lehr_call* call, lehr_error* error);
/// Fills the prepacked parameters from the tensors that stay as they are (a filter, a constant B): once
/// before the first lehr_run, and again when these have changed. Other tensors may be NULL; no scratch is
/// needed. LEHR_OK where there is nothing to prepack.
LEHR_API lehr_status lehr_prepack(lehr_kernel kernel, const lehr_call* call, lehr_error* error);

/// Runs the kernel once, on the calling thread and memory of its own, with input that the bundle knows the
/// output of, in double precision, at some places. LEHR_WRONG_RESULT where that is another one, or where an
/// element is not written at all; LEHR_NO_MEMORY. LEHR_OK, and nothing is run, where the bundle knows no
/// output (kernels whose tensors are not all f32).
LEHR_API lehr_status lehr_self_test(lehr_kernel kernel, lehr_error* error);
typedef struct lehr_launch_call {
  uint32_t size;
  uint32_t param_count;
  /// lehr_param: addresses on the device, tensors in the order of the workload, then workspaces.
  void* const* params;
  /// CUstream or cudaStream_t of the bundle's context; NULL: its default stream.
  void* stream;
  /// lehr_tensor_map_bytes() of host memory, aligned to 64 bytes, that lehr_encode() has filled for these
  /// params: launches of the same params need not make their tensor maps again. NULL: each makes its own.
  void* tensor_maps;
  uint64_t tensor_map_bytes;
} lehr_launch_call;

/// Puts a kernel for CUDA on the call's stream and returns at once. Nothing is allocated, waited for or
/// locked, so that a stream in capture takes it into its graph; what `params` point to is read when the
/// kernel runs, `params` and `tensor_maps` only before this returns. The bundle's context need not be
/// current. Outputs overlap nothing, inputs neither.
LEHR_API lehr_status lehr_launch(lehr_kernel kernel, const lehr_launch_call* call, lehr_error* error);
/// Host memory for the tensor maps of a launch. 0 where it needs none.
LEHR_API lehr_status lehr_tensor_map_bytes(lehr_kernel kernel, uint64_t* bytes, lehr_error* error);
/// Fills `call->tensor_maps` for its params. LEHR_OK where the kernel needs none.
LEHR_API lehr_status lehr_encode(lehr_kernel kernel, const lehr_launch_call* call, lehr_error* error);

/// A pool for programs that have none: the caller and threads - 1 helpers, which sleep while there is no
/// work. A second call at the same time runs on its caller alone. In a child process, which has none of its
/// parent's threads, the first call starts helpers anew, as many as can be had. `work` itself does not fork.
#define LEHR_MOST_THREADS 4096
typedef struct lehr_pool lehr_pool;
/// 1 to LEHR_MOST_THREADS. LEHR_NO_MEMORY where not all can be started.
LEHR_API lehr_status lehr_pool_create(uint32_t threads, lehr_pool** pool, lehr_error* error);
/// A lehr_parallel_for.
LEHR_API void lehr_pool_run(void* pool, uint32_t workers, void (*work)(void* context, uint32_t worker),
                            void* context);
/// NULL is allowed. No call may be running on it.
LEHR_API void lehr_pool_destroy(lehr_pool* pool);

#ifdef __cplusplus
}
#endif
