// What a bundle's manifest.json says: read once, whole, and checked against itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/cpu_features.h"
#include "runtime/cuda_api.h"
#include "runtime/json.h"
#include "runtime/lehr_bundle.h"
#include "runtime/memory.h"

namespace lehr::runtime {

/// The document's `format`, and the newest `version` that this reads.
inline constexpr std::string_view kManifestFormat = "lehr-bundle-folder";
inline constexpr std::uint64_t kManifestVersion = 2;
/// The first one that has kernels that are told their number of rows, and sets of them. What has none is of
/// version 1, and read by libraries that know no other.
inline constexpr std::uint64_t kManifestVersionOfRows = 2;

inline constexpr std::uint32_t kNoIndex = static_cast<std::uint32_t>(-1);

struct ManifestFile {
  std::string_view path;  ///< within the folder: words of letters, digits, '.', '_', '-', with '/' between
  std::string_view sha256;
};

/// Types of elements, by the codes and bits that DLPack has for them (DLDataTypeCode).
struct ElementType {
  std::string_view name;
  std::uint8_t code, bits;
};
/// nullptr where none is named so.
const ElementType* element_type(std::string_view name);

/// A dimension of a tensor, in elements.
struct ManifestDimension {
  std::uint64_t size = 1;
  std::uint64_t stride = 1;
};

struct ManifestParam {
  std::string_view name;
  /// Of an ElementType.
  std::string_view dtype;
  std::uint32_t role = LEHR_IN;
  /// Bytes.
  std::uint32_t alignment = 1;
  /// Of what a self-test fills it with (self_test.h).
  double test_mean = 0, test_deviation = 1;
  /// The workload has it stay the same from call to call.
  bool constant = false;
  std::uint64_t bytes = 0;
  /// Of one row or image where the kernel may be a part of a split; 0: the whole is needed.
  std::uint64_t slice_bytes = 0;
  /// None where the manifest does not tell the shape.
  std::uint32_t first_dimension = 0, dimensions = 0;
  /// Of Manifest::maps: the argument is this map of the tensor; CUDA.
  std::uint32_t map = kNoIndex;
};

/// False where no role is named so.
bool role_named(std::string_view name, std::uint32_t& role);

/// How a kernel for CUDA is launched, and what it was compiled for.
struct ManifestLaunch {
  std::array<unsigned, 3> grid{}, block{};
  unsigned cluster = 1;  ///< blocks along x
  unsigned shared_bytes = 0;
  bool programmatic = false;
  std::uint32_t arch = 0;             ///< 90 of "sm_90a"
  bool this_arch_alone = false;       ///< "sm_90a": no other minor version runs it
  std::uint32_t multiprocessors = 0;  ///< of the device that it was tuned on
  std::uint32_t compiler = 0;         ///< 1000 major + 10 minor, as drivers tell theirs
  std::uint32_t ptx = kNoIndex;       ///< index of ManifestFile
};

/// A function that is called for each task in [0, tasks); the next one begins when all are done.
struct ManifestStep {
  std::string_view entry;
  std::uint64_t tasks = 1;
};

/// An element of the output of a self-test (self_test.h).
struct ManifestSample {
  std::uint64_t index = 0;
  double value = 0;
};

struct ManifestKernel {
  std::string_view name;  ///< of its function, which winners of other threads or caches may share
  std::string_view workload;
  std::string_view defaults;  ///< those words of it that need not be said, separated by spaces
  std::string_view shorter;   ///< other words for words of it
  std::string_view target;
  std::string_view machine;  ///< "x86_64", "aarch64"; "" for a GPU's
  std::string_view arch;
  CpuFeatures features = 0;  ///< that it needs
  std::string_view
      unknown_feature;     ///< one that it needs and that this runtime does not know; "" where there is none
  std::uint32_t file = 0;  ///< index of ManifestFile
  std::uint32_t threads = 1;  ///< 0: a GPU's
  bool cold = false;
  double time_us = 0;
  double max_error = 0;
  std::uint64_t rows = 0;           ///< the most that it may be told of; 0: their number is fixed
  std::uint64_t scratch_bytes = 0;  ///< of one worker
  std::uint32_t first_param = 0, params = 0;
  std::uint32_t first_step = 0, steps = 0;
  ManifestStep prepack;             ///< no entry: nothing is prepacked
  std::uint64_t prepack_reads = 0;  ///< a bit per parameter
  std::string_view prepack_layout;  ///< kernels with one layout share prepacked memory
  std::string_view slice_field;  ///< "m" or "n": the field whose value may be made up of parts; "": it can't
  std::uint64_t slices = 0;      ///< that field's value
  bool bucket = false;           ///< may serve a smaller value with padding
  std::uint32_t launch = kNoIndex;  ///< of Manifest::launches; a kernel for the CPU has steps instead
  std::uint32_t workspaces = 0;     ///< of its params, the last ones
  std::uint32_t maps = 0;           ///< of its params

  bool on_cuda() const { return launch != kNoIndex; }
  std::uint32_t tensors() const { return params - workspaces; }
  std::uint64_t call_hash = 0;                  ///< call_hash() of it; CPU
  std::uint32_t first_sample = 0, samples = 0;  ///< of its self-test; none where there is none
  double tolerance = 0;                         ///< of each of them
  std::uint64_t test_rows = 0;                  ///< that the self-test tells it of
};

/// A kernel that serves the numbers of rows from behind the member before it to this one.
struct ManifestMember {
  std::uint32_t kernel = 0;  ///< of Manifest::kernels
  std::uint64_t to = 0;
};

/// What a set takes for so many rows.
struct ManifestTime {
  std::uint64_t rows = 0;
  double us = 0;
};

/// Kernels for a range of rows (or of another field), one workload but for their number.
struct ManifestSet {
  std::string_view workload, defaults, shorter;  ///< as a kernel's; the field is a range there
  std::string_view field;
  std::uint64_t least = 1, most = 1;
  std::uint32_t threads = 1;
  std::uint32_t first_member = 0, members = 0;
  std::uint32_t first_time = 0, times = 0;
};

struct Manifest {
  static constexpr std::uint32_t kMostParams = 64;  ///< of a kernel
  static constexpr std::size_t kMostKernels = 4096, kMostFiles = 8192, kMostSets = 4096;

  Array<ManifestFile> files;
  Array<ManifestKernel> kernels;
  Array<ManifestParam> params;
  Array<ManifestDimension> dimensions;
  Array<ManifestStep> steps;
  Array<ManifestLaunch> launches;
  Array<CudaTensorMapArguments> maps;
  Array<ManifestSample> samples;
  Array<ManifestSet> sets;
  Array<ManifestMember> members;
  Array<ManifestTime> times;
};

/// What the functions of a kernel for the CPU rely on, as a number: its parameters' names, types, roles,
/// bytes and alignment, its steps, its scratch, its prepack and what that reads, and the most rows that it is
/// told of, if it is. Its library has the same number in NAME_call, so that a manifest that says something
/// else is found before a function is called.
std::uint64_t call_hash(const ManifestKernel& kernel, const ManifestParam* params, const ManifestStep* steps);

/// Of a kernel of the document, whose parameters have been read: what only those for CUDA have. nullptr, or
/// what is wrong with it. `no_memory` is set where there is none.
const char* read_cuda_kernel(const Json& json, std::uint32_t at, Manifest& manifest, ManifestKernel& kernel,
                             bool& no_memory);

/// The sets of a document whose kernels have been read; none where it has no member of that name. nullptr, or
/// what is wrong with one. `no_memory` is set where there is none.
const char* read_sets(const Json& json, Manifest& manifest, bool& no_memory);

/// Reads `text`, which it changes and which the result points into. LEHR_BAD_BUNDLE with a sentence that
/// begins with `where` for what is no manifest of a version that it knows, what is incomplete, or what was
/// changed after it was written (its own hash). LEHR_NO_MEMORY.
lehr_status read_manifest(const char* where, char* text, std::size_t size, Manifest& manifest,
                          lehr_error* error);

}  // namespace lehr::runtime
