// A vendor library to compare with: its own folder in measure/vendor/, and a line in
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

/// The fields of workloads that came later (workload/field.h) and are older than every baseline.
inline constexpr std::string_view kOldFields[] = {"math"};

/// One way to use a library: a participant of contests.
struct Baseline {
  std::string_view name;  ///< of --baseline, in reports and in the log: "cublaslt-best"
  std::unique_ptr<Runner> (*make_runner)();
  /// Throws Error(kUser), one sentence, for what it has no call for, or what RunSettings it does not follow.
  /// prepare() does the same; this is asked before a worker is started.
  void (*require_served)(const Workload& workload, const RunSettings& settings);
  /// Of the fields that came later, those that its calls heed: require() refuses others for it.
  std::span<const std::string_view> reads = kOldFields;
  bool reads_all = false;  ///< it goes by the workload's text, so that it knows every field
  bool searches = false;   ///< for its fastest way, within RunSettings::search
};

/// Returns the workload of a problem, of fixed rows: what a library is asked for. Throws Error(kUser) for a
/// text that no workload has.
Workload workload_of(const Problem& problem);
/// Throws Error(kUser), one sentence, for what the baseline does not serve, or a field of it that it does not
/// know.
void require(const Baseline& baseline, const Problem& problem, const RunSettings& settings);

/// How a worker process is started with it.
struct BaselineVariant {
  std::string note;  ///< "OPENBLAS_CORETYPE=SkylakeX"; "" for the library as it comes
  std::vector<std::string> environment;
};

struct VendorLibrary {
  std::string_view name;  ///< what `lehr doctor` calls it
  Target target;
  std::string_view only = "";  ///< the one operator that it has calls for, by its name; "": each
  bool by_default = true;      ///< false: it is timed only where --baseline names it
  std::span<const Baseline> baselines;
  /// The library as it comes first, then others worth trying: the fastest counts. `arch` is Limits::arch of
  /// the device.
  std::vector<BaselineVariant> (*variants)(std::string_view arch, int threads);
  /// What is here, for `lehr doctor`: "found", "13.1.0 (libcublasLt.so.13): ...". `folders`: where its
  /// target's libraries lie besides the loader's own. Throws Error(kEnvironment) that says what to install.
  /// nullptr: it is told for more than baselines (describe_engine()).
  std::string (*describe)(const std::vector<std::string>& folders);
};

/// VendorLibrary::variants of one that needs nothing.
std::vector<BaselineVariant> as_it_comes(std::string_view arch, int threads);
/// Of one that runs its threads with OpenMP.
std::vector<BaselineVariant> with_openmp(std::string_view arch, int threads);

}  // namespace lehr
