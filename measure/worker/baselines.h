// The table of vendor libraries: the only place that lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/vendor/vendor_library.h"

namespace lehr {

/// Returns the libraries in the order of reports.
std::span<const VendorLibrary* const> vendor_libraries();

/// Returns the names that --baseline may have on `target`.
std::vector<std::string> baseline_names(Target target);
/// Returns the baselines that are timed without --baseline.
std::vector<std::string> default_baselines(Target target);

/// Returns the participant of contests that runs a bundle's kernels (RunSettings::bundle).
std::string_view bundle_baseline(Target target);

struct NamedBaseline {
  const VendorLibrary* library = nullptr;  ///< nullptr: no library has this name
  const Baseline* baseline = nullptr;
};
NamedBaseline find_baseline(std::string_view name);

/// Returns `names` without the libraries that have no call for the operator of the problem whose text is
/// `problem` (VendorLibrary::only). Reports leave these libraries out.
std::vector<std::string> with_calls_for(std::string_view problem, std::vector<std::string> names);

/// Seconds until a new process has loaded a CPU library, not counting the inputs (0.1 to 0.3 s on 2 CPUs of
/// an EPYC of 2021).
inline constexpr double kLibraryStartS = 0.2;

}  // namespace lehr
