// Are a family's kernels right on this device? Sampled configs against the reference, without a search.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tune/open_device.h"
#include "tune/task.h"

namespace lehr {

/// A config that did not give a right result, and why.
struct CheckFailure {
  Config config;
  Failure failure;
};

/// What came of one family on one workload. sampled = right + rejected + failures.
struct FamilyCheck {
  std::string family;
  int sampled = 0;   ///< distinct configs that were drawn and run
  int right = 0;     ///< gave the reference's result
  int rejected = 0;  ///< compiled, but their log broke a rule (spills): a search would not have run them
  std::string checked_by;         ///< Measurer::checked_by()
  double error_of_tolerance = 0;  ///< largest error / tolerance of the right ones, in [0, 1]
  std::vector<CheckFailure> failures;
};

struct SpotCheckOptions {
  int samples = 4;  ///< configs per family, the default config among them
  std::uint64_t seed = 0;
};

/// Runs up to `samples` configs of each family that serves the task on the workload's seeded inputs; a family
/// of fewer configs is run whole. Stops between configs once `device.stop` is set, and gives what is known.
/// Throws as Measurer::measure().
std::vector<FamilyCheck> spot_check(const Task& task, const Candidates& candidates, const OpenDevice& device,
                                    const SpotCheckOptions& options);

/// One object per family: workload, family, counts, error_of_tolerance, failures{config, kind, text}.
nlohmann::json to_json(const std::string& workload, const std::vector<FamilyCheck>& checks);

}  // namespace lehr
