// Turns the documents of `lehr tune --json` on workloads with an epilogue into a Markdown table: the fused
// kernel against the unfused pair of the same run. Exit code 1 when a fused kernel is slower than its pair by
// more than the noise: the whole interval of its ratio is below 1.
//   fusion_table FILE.json ... > table.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "documents.h"

namespace {

using namespace lehr::bench;
using nlohmann::json;

/// Returns the unfused pair; null where it was not timed.
json unfused_of(const json& document) {
  for (const json& entry : document["baselines"])
    if (entry.value("name", "") == "unfused" && number(entry, "time_us") > 0) return entry;
  return nullptr;
}

bool surely_slower(const json& unfused) {
  const json interval = unfused.value("speedup_interval", json());
  return interval.is_array() && interval.size() == 2 && interval[1].get<double>() < 1;
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print(
      "| problem | layout | epilogue | threads | fused us | unfused us | unfused / fused | family |\n"
      "|---|---|---|---|---|---|---|---|\n");
  double log_sum = 0, worst = 0;
  int rows = 0, slower = 0, missing = 0;
  for (int i = 1; i < argc; ++i) {
    const json document = read_document(argv[i]);
    const std::string workload = document["workload"];
    const json unfused = unfused_of(document);
    if (unfused.is_null()) {
      fmt::print(stderr, "{}: the unfused pair was not timed\n", argv[i]);
      ++missing;
      continue;
    }
    const double ratio = number(unfused, "speedup");
    const std::string layout = field_of(workload, "layout");
    fmt::print("| {} | {} | {} | {} | {:.1f} | {:.1f} | {} | {} |\n", shape_of(workload),
               layout == "?" ? "row" : layout, field_of(workload, "epilogue"), threads_of(argv[i]),
               number(document["best"], "time_us"), number(unfused, "time_us"),
               ratio_text(unfused, "speedup", "speedup_interval"),
               document["best"]["template"].get<std::string>());
    log_sum += std::log(ratio);
    worst = rows == 0 ? ratio : std::min(worst, ratio);
    slower += surely_slower(unfused) ? 1 : 0;
    ++rows;
  }
  if (rows > 0)
    fmt::print(
        "\nGeometric mean over {} rows: {:.3f}; worst row: {:.3f} (ratio of times, unfused / fused, the "
        "median of interleaved rounds). Slower than the unfused pair by more than the noise: {} of {}.\n",
        rows, std::exp(log_sum / rows), worst, slower, rows);
  return slower > 0 || missing > 0 || rows == 0 ? 1 : 0;
}
