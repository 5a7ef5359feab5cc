// A vendor library to compare with. It has a folder in measure/vendor/ and a line in
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

/// Optional fields of workloads (workload/field.h) that are older than every baseline.
inline constexpr std::string_view kOldFields[] = {"math"};

/// A participant of contests that uses a library.
struct Baseline {
  std::string_view name;  ///< its name in --baseline, in reports and in the log: "cublaslt-best"
  std::unique_ptr<Runner> (*make_runner)();
  /// Throws Error(kUser) with one sentence if it has no call for the workload, or cannot follow RunSettings.
  /// prepare() does the same; this is called before a worker is started.
  void (*require_served)(const Workload& workload, const RunSettings& settings);
  /// The optional fields that its calls support: require() refuses all others.
  std::span<const std::string_view> reads = kOldFields;
  bool reads_all = false;  ///< whether it is given the workload's text, and so supports every field
  bool searches = false;   ///< whether it searches for its fastest algorithm, within RunSettings::search
};

/// Returns the workload of a problem, with fixed rows, which a library is called for. Throws Error(kUser) for
/// a text that is not a workload.
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
  std::string_view only = "";  ///< name of the one operator that it has calls for; "": all operators
  bool by_default = true;      ///< false: it is only timed if --baseline names it
  std::span<const Baseline> baselines;
  /// Returns the library's default setting, then others worth trying: the fastest counts. `arch` is
  /// Limits::arch of the device.
  std::vector<BaselineVariant> (*variants)(std::string_view arch, int threads);
  /// Describes the installed library for `lehr doctor`: "found", "13.1.0 (libcublasLt.so.13): ...". `folders`
  /// are those of its target's libraries besides the loader's own. Throws Error(kEnvironment) that says what
  /// to install. nullptr: it is reported for more than baselines (describe_engine()).
  std::string (*describe)(const std::vector<std::string>& folders);
};

/// Returns VendorLibrary::variants of a library that needs no setting.
std::vector<BaselineVariant> as_it_comes(std::string_view arch, int threads);
/// Returns VendorLibrary::variants of a library that runs its threads with OpenMP.
std::vector<BaselineVariant> with_openmp(std::string_view arch, int threads);

}  // namespace lehr
