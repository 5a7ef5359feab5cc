// Checks a family's kernels on this device: sampled configs against the reference, without a search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tune/open_device.h"
#include "tune/task.h"

namespace lehr {

/// A config that did not give a right result, and the reason.
struct CheckFailure {
  Config config;
  Failure failure;
};

/// The outcome of one family on one workload. sampled = right + rejected + failures.
struct FamilyCheck {
  std::string workload, family;
  int sampled = 0;  ///< distinct configs that were drawn and run
  int right = 0;    ///< number of configs that gave the reference's result
  /// Number of configs that compiled, but whose compiler log broke a rule (spills). A search would not have
  /// run them.
  int rejected = 0;
  std::string checked_by;         ///< Measurer::checked_by()
  double error_of_tolerance = 0;  ///< largest error / tolerance of the right configs, in [0, 1]
  std::vector<CheckFailure> failures;
};

struct SpotCheckOptions {
  int samples = 4;  ///< configs per family, the default config among them
  std::uint64_t seed = 0;
};

/// Checks up to `samples` configs of each family that serves the task, on the workload's seeded inputs. If a
/// family has fewer configs, all are checked. Once `device.stop` is set, it stops after the current config
/// and returns the results so far. Throws as Measurer::measure().
std::vector<FamilyCheck> spot_check(const Task& task, const Candidates& candidates, const OpenDevice& device,
                                    const SpotCheckOptions& options);

/// Documents of `lehr check --json`.
void describe(auto& field, const CheckFailure& one) {
  constexpr std::size_t kMostText = 2000;  // a compiler's text may be megabytes
  field("config", to_text(one.config));
  field("kind", std::string(name_of(one.failure.kind)));
  field("text", one.failure.text.substr(0, kMostText));
}
void describe(auto& field, const FamilyCheck& check) {
  field("workload", check.workload);
  field("family", check.family);
  field("sampled", check.sampled);
  field("right", check.right);
  field("rejected", check.rejected);
  field("checked_by", check.checked_by);
  field("error_of_tolerance", check.error_of_tolerance);
  field("failures", check.failures);
}

}  // namespace lehr
