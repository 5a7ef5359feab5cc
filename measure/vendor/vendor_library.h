// A vendor library to compare with. Each library has a folder in measure/vendor/ and a line in
// measure/worker/baselines.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/core/runner.h"
#include "workload/workload.h"

namespace lehr {

/// Optional fields of workloads (workload/field.h) that every baseline has supported from its beginning.
inline constexpr std::string_view kOldFields[] = {"math"};

/// A participant of contests that calls a library.
struct Baseline {
  std::string_view name;  ///< its name in --baseline, in reports and in the log: "cublaslt-best"
  std::unique_ptr<Runner> (*make_runner)();
  /// Throws Error(kUser) with one sentence if the library has no call for the workload, or if RunSettings
  /// cannot be followed. prepare() checks the same; this function is called before a worker is started.
  void (*require_served)(const Workload& workload, const RunSettings& settings);
  /// The optional fields that its calls support. require() refuses all other fields.
  std::span<const std::string_view> reads = kOldFields;
  bool reads_all = false;  ///< whether it gets the workload's text, and so supports every field
  bool searches = false;   ///< whether it searches for its fastest algorithm, within RunSettings::search
};

/// Returns the workload of a problem, with the problem's number of rows fixed. Libraries are called for this
/// workload. Throws Error(kUser) if the problem's text is not a workload.
Workload workload_of(const Problem& problem);
/// Throws Error(kUser) with one sentence if the baseline does not serve the problem, or does not support one
/// of its fields.
void require(const Baseline& baseline, const Problem& problem, const RunSettings& settings);

/// A setting with which a library's worker process is started.
struct BaselineVariant {
  std::string note;  ///< "OPENBLAS_CORETYPE=SkylakeX"; "" for the library's default
  std::vector<std::string> environment;
};

struct VendorLibrary {
  std::string_view name;  ///< its name in `lehr doctor`
  Target target;
  std::string_view only = "";  ///< name of the only operator that it has calls for; "": all operators
  bool by_default = true;      ///< whether it is timed without --baseline
  std::span<const Baseline> baselines;
  /// Returns the library's default setting, then other settings worth trying. The fastest setting counts.
  /// `arch` is Limits::arch of the device.
  std::vector<BaselineVariant> (*variants)(std::string_view arch, int threads);
  /// Describes the installed library for `lehr doctor`: "found", "13.1.0 (libcublasLt.so.13): ...". `folders`
  /// are searched after the loader's own search. Throws Error(kEnvironment), whose text says what to install.
  /// nullptr: describe_engine() reports the library, since it serves other purposes, too.
  std::string (*describe)(const std::vector<std::string>& folders);
};

/// VendorLibrary::variants of a library that needs no setting.
std::vector<BaselineVariant> as_it_comes(std::string_view arch, int threads);
/// VendorLibrary::variants of a library that runs its threads with OpenMP.
std::vector<BaselineVariant> with_openmp(std::string_view arch, int threads);

}  // namespace lehr
