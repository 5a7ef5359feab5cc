// Reads ptxas's words on a compiled kernel (-Xptxas -v): registers, spills, and the advisories that mean lost
// speed. NvrtcCompiler (nvrtc.h) fills Resources from it and rejects candidates by it before they cost a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/core/compiler.h"

namespace lehr {

/// What ptxas said of one entry. Absent = the log has no such line. Bytes are per thread, except shared (per
/// block).
struct PtxasReport {
  std::optional<int> registers;
  std::optional<int> stack_bytes;
  std::optional<int> spill_store_bytes;
  std::optional<int> spill_load_bytes;
  std::optional<int> shared_bytes;  ///< static shared memory only: the dynamic part is a launch argument
  std::vector<std::string>
      advisories;  ///< whole lines that carry a code C75xx, e.g. "(C7508) Potential Performance Loss: ..."
};

/// Reads the part of the log that belongs to `entry` (a log with one entry has no need of the name: pass "").
/// Advisories are taken from the whole log. Never throws: lines of an unknown form are passed over.
PtxasReport parse_ptxas_log(std::string_view log, std::string_view entry = "");

/// The first line of a Failure{kRejected}, or nullopt where the candidate may run: it neither spills nor has
/// an advisory.
std::optional<std::string> why_rejected(const PtxasReport& report);

/// The report as Resources: spills are stores + loads, shared memory is static plus `dynamic_shared_bytes`,
/// advisories one per line.
Resources resources_of(const PtxasReport& report, std::int64_t dynamic_shared_bytes, double compile_s);

}  // namespace lehr
