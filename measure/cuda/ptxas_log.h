// Reads ptxas's report on a compiled kernel (-Xptxas -v): registers, spills, and advisories about lost speed.
// NvrtcCompiler (nvrtc.h) fills Resources from it and rejects candidates with it before they cost a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/core/compiler.h"

namespace lehr {

/// ptxas's report on one entry. nullopt: the log has no such line. Bytes are per thread, except shared (per
/// block).
struct PtxasReport {
  std::optional<int> registers;
  std::optional<int> stack_bytes;
  std::optional<int> spill_store_bytes;
  std::optional<int> spill_load_bytes;
  std::optional<int> shared_bytes;  ///< only static shared memory: the dynamic part is a launch argument
  /// Whole lines with a code C75xx, e.g. "(C7508) Potential Performance Loss: ...".
  std::vector<std::string> advisories;
};

/// Reads the part of the log for `entry` (in a log with one entry the name is not needed: pass "").
/// Advisories are taken from the whole log. Never throws: lines of an unknown form are skipped.
PtxasReport parse_ptxas_log(std::string_view log, std::string_view entry = "");

/// Returns the first line of a Failure{kRejected}; nullopt if the candidate may run: it neither spills nor
/// has an advisory.
std::optional<std::string> why_rejected(const PtxasReport& report);

/// Returns the report as Resources: spills are stores + loads, shared memory is static plus
/// `dynamic_shared_bytes`, advisories are one per line.
Resources resources_of(const PtxasReport& report, std::int64_t dynamic_shared_bytes, double compile_s);

}  // namespace lehr
