// The table of vendor libraries: the one place where they are listed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/vendor/vendor_library.h"

namespace lehr {

/// In the order in which reports have them.
std::span<const VendorLibrary* const> vendor_libraries();

/// What --baseline may name on `target`.
std::vector<std::string> baseline_names(Target target);
/// Those of them that are timed where it is not given.
std::vector<std::string> default_baselines(Target target);

/// The participant of contests that runs a bundle's kernels there (RunSettings::bundle).
std::string_view bundle_baseline(Target target);

struct NamedBaseline {
  const VendorLibrary* library = nullptr;  ///< nullptr: there is none of this name
  const Baseline* baseline = nullptr;
};
NamedBaseline find_baseline(std::string_view name);

/// `names` without those of libraries that have no call for the operator of the problem with this text
/// (VendorLibrary::only): there is nothing to say of them.
std::vector<std::string> with_calls_for(std::string_view problem, std::vector<std::string> names);

/// Seconds until a process has loaded a library of the CPU, beside making the inputs (0.1 to 0.3 s on 2 CPUs
/// of an EPYC of 2021).
inline constexpr double kLibraryStartS = 0.2;

}  // namespace lehr
