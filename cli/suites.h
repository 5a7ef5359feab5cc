// Lists of workloads that come with the program, by name: `tune --suite autotvm`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

struct SuiteRow {
  std::string_view network;
  std::string_view workload;   ///< text; "": there is none, and `note` says why
  std::string_view note = {};  ///< a clause
};

struct Suite {
  std::string_view name;
  std::string_view source;  ///< where its networks are described
  std::span<const SuiteRow> rows;
};
std::span<const Suite> suites();
std::vector<std::string> suite_names();

/// Its workloads, each once, in order; `leave_out` gets a sentence for each row without one. Throws
/// Error(kUser) for a name that is none.
std::vector<Workload> workloads_of_suite(const std::string& name,
                                         const std::function<void(const std::string&)>& leave_out);

}  // namespace lehr
