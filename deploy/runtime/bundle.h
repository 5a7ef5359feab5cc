// An open bundle, and what its handles stand for.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "deploy/runtime/cuda.h"
#include "deploy/runtime/lehr_bundle.h"
#include "deploy/runtime/manifest.h"
#include "deploy/runtime/memory.h"

namespace lehr::runtime {

/// A kernel's function (codegen/source.h): called for each of its tasks, with scratch of its own that is
/// aligned to 64 bytes.
using Entry = void (*)(void* const* params, void* scratch, long task);

struct Step {
  Entry entry = nullptr;
  long tasks = 1;
};

/// One that this processor runs, or its GPU.
struct LoadedKernel {
  const ManifestKernel* said = nullptr;
  const ManifestParam* params = nullptr;
  const Step* steps = nullptr;
  Step prepack;  ///< no entry: nothing is prepacked
  // Of a kernel for CUDA, which has no steps.
  const Cuda* cuda = nullptr;
  void* function = nullptr;
  const ManifestLaunch* launch = nullptr;
  const CudaTensorMapArguments* maps = nullptr;  ///< of the whole manifest
  bool other_device = false;                     ///< tuned on another GPU than this one
  bool from_ptx = false;
};

/// `repeats` calls of one kernel, for neighbouring slices (rows, images) from `first` on.
struct Part {
  const LoadedKernel* kernel = nullptr;
  std::uint64_t first = 0;
  std::uint64_t repeats = 1;
  std::uint64_t used =
      0;  ///< slices of a call that are asked for; fewer than it computes: the rest is padding
  std::uint32_t first_workspace = 0;  ///< index of its workspaces in Answer::params; CUDA
};

/// What the handle of a kernel stands for. Does not change once it has been handed out.
struct Answer {
  std::uint32_t kind = LEHR_EXACT;
  const char* workload = "";
  Array<Part> parts;
  Array<ManifestParam> params;  ///< with the bytes of the whole workload
  double time_us = 0;
  double wasted = 0;
  std::uint64_t scratch_bytes = 0;  ///< of one worker, a multiple of 64
  std::uint64_t padding_bytes = 0;  ///< behind the workers' scratch: copies of padded slices
  Array<char> text;                 ///< `workload` where it was put together
  std::uint32_t asked_threads = 0;  ///< lehr_find_options::threads that it was put together for
  std::uint32_t asked_target = LEHR_ANY_TARGET;
  std::uint32_t padding = kNoIndex;  ///< CUDA: index of the param that copies of padded slices lie in

  static bool is_padded(const Part& part) { return part.used < part.kernel->said->slices; }
};

struct Bundle {
  static constexpr std::size_t kMostAnswers = 1u << 16;

  Bundle() = default;
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  std::uint64_t generation = 0;
  Array<char> text;  ///< the manifest's, which everything points into
  Manifest manifest;
  Array<void*> libraries;  ///< of dlopen()
  Array<Step> steps;
  Array<LoadedKernel> kernels;
  CpuFeatures features = 0;  ///< that kernels may use
  Owner<Cuda> cuda;          ///< where the manifest has kernels for it
  int cuda_device = 0;       ///< lehr_open_options::cuda_device

  /// The first kernels.size() are the kernels as they are; those that were put together follow. Written with
  /// `adding` held, read without.
  std::atomic<Answer*>* answers = nullptr;
  std::atomic<std::size_t> answer_count = 0;
  pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

  /// Owns it from then on. The index, or kMostAnswers where there is no room.
  std::size_t add(Owner<Answer> answer);
};

/// What a handle stands for; nullptr where it is not open.
Bundle* bundle_of(lehr_bundle handle);
const Answer* answer_of(lehr_kernel handle);
Bundle* bundle_of_kernel(lehr_kernel handle);
/// The handle of an answer of an open bundle.
lehr_kernel kernel_handle(lehr_bundle bundle, std::size_t answer);
/// Makes it open. 0 where too many are.
lehr_bundle register_bundle(Owner<Bundle> bundle);
/// Ends it. False where the handle is not open.
bool unregister_bundle(lehr_bundle handle);

/// For every kernel of the manifest that `features` suffice for, what `entry_named(context, kernel, name)`
/// finds of its functions; nullptr ends it, with `error` set. LEHR_WRONG_DEVICE where there is no such
/// kernel.
using EntryNamed = Entry (*)(void* context, const ManifestKernel& kernel, std::string_view name,
                             lehr_error* error);
/// The bytes of a file, a cubin or PTX, that are those of its hash. Without it no kernel for CUDA is loaded.
using ImageOf = lehr_status (*)(void* context, const ManifestFile& file, Array<char>& bytes,
                                lehr_error* error);
lehr_status load_kernels(Bundle& bundle, const char* where, EntryNamed entry_named, void* context,
                         lehr_error* error, ImageOf image_of = nullptr);
/// Those for CUDA that this GPU runs. Cuda::why_not_of() says why others are not.
lehr_status load_cuda_kernels(Bundle& bundle, ImageOf image_of, void* context, lehr_error* error);
/// "avx512f", "aarch64": the first thing that a processor's kernel needs and that `features` and this machine
/// lack.
std::string_view what_is_missing(const ManifestKernel& kernel, CpuFeatures features);

/// What is wrong with a call's params, of which those with their bit in `needed` are looked at; or LEHR_OK.
lehr_status check_params(const Answer& answer, void* const* params, std::uint32_t count, std::uint64_t needed,
                         lehr_error* error);

/// lehr_run and lehr_prepack of a call that is right.
void run_answer(const Answer& answer, const lehr_call& call);
void prepack_answer(const Answer& answer, const lehr_call& call);

/// lehr_self_test of one kernel.
lehr_status self_test(const Bundle& bundle, const LoadedKernel& kernel, lehr_error* error);

/// An empty bundle, and the caller's options for it. LEHR_BAD_ARGUMENT for a feature that is not known.
lehr_status begin_opening(const lehr_open_options* given, const char* where, Owner<Bundle>& bundle,
                          lehr_open_options& options, lehr_error* error);
/// Makes it open, once its kernels have passed what the options ask for.
lehr_status finish_opening(Owner<Bundle> bundle, const lehr_open_options& options, lehr_bundle* handle,
                           lehr_error* error);

}  // namespace lehr::runtime
