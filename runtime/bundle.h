// An open bundle, and what its handles stand for.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/cuda.h"
#include "runtime/lehr_bundle.h"
#include "runtime/lock.h"
#include "runtime/manifest.h"
#include "runtime/memory.h"

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
  const ManifestKernel* manifest = nullptr;
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

/// A kernel that serves the numbers of rows from behind the one before it to this one.
struct LoadedMember {
  const LoadedKernel* kernel = nullptr;
  std::uint64_t to = 0;
};

/// Kernels for a range of rows, all of which run here. Its calls have the parameters of `prepacks`; a member
/// that reads its inputs as they lie takes the tensors alone, which are the first ones.
struct LoadedSet {
  const ManifestSet* manifest = nullptr;
  const LoadedMember* members = nullptr;   ///< the last one serves the most rows
  const LoadedKernel* prepacks = nullptr;  ///< the first member that does, else the first member
};

/// `repeats` calls of one kernel, for neighbouring slices (rows, images) from `first` on.
struct Part {
  const LoadedKernel* kernel = nullptr;
  std::uint64_t first = 0;
  std::uint64_t repeats = 1;
  /// Slices of a call that are asked for; fewer than it computes: the rest is padding.
  std::uint64_t used = 0;
  /// Index of its workspaces in Answer::params; CUDA.
  std::uint32_t first_workspace = 0;
  std::uint64_t rows = 0;  ///< of each call, which its kernel is told; 0: those that it always has

  std::uint64_t size() const { return rows > 0 ? rows : kernel->manifest->slices; }
  bool is_padded() const { return used < size(); }
};

/// What the handle of a kernel stands for. Does not change once it has been handed out.
struct Answer {
  std::uint32_t kind = LEHR_EXACT;
  const char* workload = "";
  /// Where each call says how many rows it has, the one for the most.
  Array<Part> parts;
  const LoadedSet* set = nullptr;
  Array<ManifestParam> params;  ///< with the bytes of the whole workload
  double time_us = 0;
  double wasted = 0;
  std::uint64_t scratch_bytes = 0;  ///< of one worker, a multiple of 64
  std::uint64_t padding_bytes = 0;  ///< behind the workers' scratch: copies of padded slices
  // Where it was put together: `workload`, and lehr_find_options that it was put together for.
  Array<char> text;
  std::uint32_t asked_threads = 0;
  std::uint32_t asked_target = LEHR_ANY_TARGET;
  std::uint32_t padding = kNoIndex;  ///< CUDA: index of the param that copies of padded slices lie in

  /// Whether each call says how many rows it has.
  bool is_open() const { return set != nullptr && parts[0].rows == 0; }
  /// The kernel whose function fills what is prepacked, for all of them.
  const LoadedKernel& prepacks() const { return set != nullptr ? *set->prepacks : *parts[0].kernel; }
  std::uint32_t threads() const {
    return set != nullptr ? set->manifest->threads : parts[0].kernel->manifest->threads;
  }
  /// Of a parameter in a call of so many rows; 0 of them: of the most.
  std::uint64_t bytes_of(const ManifestParam& param, std::uint64_t call_rows) const {
    return is_open() && call_rows > 0 && param.slice_bytes > 0 ? call_rows * param.slice_bytes : param.bytes;
  }
};

/// What a program asks for.
struct Asked {
  std::string_view workload;
  std::uint32_t threads = 0;
  std::uint32_t target = LEHR_CPU;  ///< one of them
  bool only_exact = false;

  bool is_for(const ManifestKernel& kernel) const { return kernel.on_cuda() == (target == LEHR_CUDA); }
};

struct Bundle {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Bundle() = default;
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  std::uint64_t generation = 0;
  Array<char> text;  ///< the manifest's, which everything points into
  Manifest manifest;
  Array<void*> libraries;  ///< of dlopen()
  Array<Step> steps;
  Array<LoadedKernel> kernels;    ///< those that are told their number of rows behind the others
  std::size_t fixed_kernels = 0;  ///< others
  Array<LoadedMember> members;
  Array<LoadedSet> sets;
  CpuFeatures features = 0;  ///< that kernels may use
  Owner<Cuda> cuda;          ///< where the manifest has kernels for it
  int cuda_device = 0;       ///< lehr_open_options::cuda_device

  /// The first ones are the kernels of fixed size as they are, then the sets, whose calls say how many rows
  /// they have; those that were put together follow. nullptr where there is none. Never waits.
  const Answer* answer(std::size_t index) const;
  std::size_t listed() const { return fixed_kernels + sets.size(); }  ///< before those
  /// The index of what was put together for this question; kNone where nothing was.
  std::size_t known(const Asked& asked);
  /// Owns it from then on. Its index, or that of another thread's answer to the same question; kNone with
  /// LEHR_NO_MEMORY or LEHR_TOO_MANY_SHAPES in `status`.
  std::size_t add(Owner<Answer> answer, lehr_status& status);

 private:
  static constexpr std::size_t kBlock = 1024, kBlocks = (LEHR_MOST_SHAPES + Manifest::kMostKernels +
                                                         Manifest::kMostSets + kBlock - 1) /
                                                        kBlock;

  std::size_t place_of(const Asked& asked, const Array<std::uint32_t>& among) const;
  bool make_room();

  // Written with `adding` held. Answers are read without it, and stay where they are.
  std::atomic<std::atomic<Answer*>*> blocks[kBlocks] = {};
  std::size_t answer_count = 0;
  /// Indices of what was put together, each at a place that follows from its question, or behind it; 0: free.
  Array<std::uint32_t> places;
  Lock adding;
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

/// Puts the kernels of the manifest's sets together, where all of a set run here. False where there is no
/// memory.
bool load_sets(Bundle& bundle);
/// The member for so many rows, which are in the set's range.
const LoadedKernel& member_for(const LoadedSet& set, std::uint64_t rows);
/// What it takes, from the measured times beside it.
double time_of(const Bundle& bundle, const LoadedSet& set, std::uint64_t rows);
/// What a call of a split takes a processor beside its kernel's time, in microseconds: 13 ns of lehr_run's,
/// and the kernel's code comes from another cache than in a loop.
inline constexpr double kCpuCallUs = 0.1;
/// A set's answer for so many rows, in several calls where they are more than its most; 0: for any number, of
/// which each call says how many. None where there is no memory, and where no calls in the set's range make
/// them up.
Owner<Answer> answer_of_set(const Bundle& bundle, const LoadedSet& set, std::uint64_t rows);
/// A kernel's own, as it is.
Owner<Answer> answer_of_kernel(const LoadedKernel& kernel);

/// A call's params, and what is to be known of it to check them.
struct CheckedCall {
  void* const* params = nullptr;
  std::uint32_t count = 0;
  std::uint64_t needed = 0;  ///< a bit for each that is looked at
  bool prepacking = false;   ///< lehr_prepack, not lehr_run or lehr_launch
  std::uint64_t rows = 0;    ///< that it has, where the answer is open
};
/// What is wrong with them, or LEHR_OK. Without NDEBUG also check_overlaps().
lehr_status check_params(const Answer& answer, const CheckedCall& call, lehr_error* error);
/// LEHR_BAD_ARGUMENT where one that the call writes overlaps another one.
lehr_status check_overlaps(const Answer& answer, const CheckedCall& call, lehr_error* error);

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
