#include "measure/vendor/vendor_library.h"

#include "base/error.h"
#include "workload/unread.h"

namespace lehr {

Workload workload_of(const Problem& problem) {
  return fixed_rows(parse_workload(problem.text));
}

void require(const Baseline& baseline, const Problem& problem, const RunSettings& settings) {
  const Workload workload = workload_of(problem);
  if (const auto unread = baseline.reads_all ? std::nullopt : why_field_unread(workload, baseline.reads))
    throw_user("{} cannot compute this: {}", baseline.name, *unread);
  baseline.require_served(workload, settings);
}

std::vector<BaselineVariant> as_it_comes(std::string_view, int) {
  return {{}};
}

// OMP_PROC_BIND is set to false: a binding meant for our own process would put all of the library's threads
// on one core.
std::vector<BaselineVariant> with_openmp(std::string_view, int threads) {
  return {{"", {fmt::format("OMP_NUM_THREADS={}", threads), "OMP_PROC_BIND=false", "OMP_DYNAMIC=false"}}};
}

}  // namespace lehr
