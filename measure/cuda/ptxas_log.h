// Reads ptxas's report on a compiled kernel (-Xptxas -v): registers, spills, and advisories about lost speed.
// NvrtcCompiler (nvrtc.h) fills Resources from it, and rejects candidates by it before they are run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/core/compiler.h"

namespace lehr {

/// ptxas's report on one entry. nullopt: the log has no such line. Bytes are per thread, except for
/// `shared_bytes`, which are per block.
struct PtxasReport {
  std::optional<int> registers;
  std::optional<int> stack_bytes;
  std::optional<int> spill_store_bytes;
  std::optional<int> spill_load_bytes;
  std::optional<int> shared_bytes;  ///< static shared memory only: dynamic shared memory is a launch argument
  /// Whole lines with a code C75xx, e.g. "(C7508) Potential Performance Loss: ...".
  std::vector<std::string> advisories;
};

/// Reads the lines of the log about `entry` (for a log with one entry pass ""). Advisories are taken from the
/// whole log. Never throws: lines of an unknown form are skipped.
PtxasReport parse_ptxas_log(std::string_view log, std::string_view entry = "");

/// Returns the first line of a Failure{kRejected}. Returns nullopt if the candidate may run, because it
/// neither spills nor has an advisory.
std::optional<std::string> why_rejected(const PtxasReport& report);

/// Returns the report as Resources. Spills are the sum of stores and loads, shared memory is the sum of
/// static and `dynamic_shared_bytes`, and advisories are one per line.
Resources resources_of(const PtxasReport& report, std::int64_t dynamic_shared_bytes, double compile_s);

}  // namespace lehr
