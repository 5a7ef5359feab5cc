// Turns the documents of bench/ordinary into its table, the slowest row first: the winner against the best of
// the vendor libraries and the unfused pair.
//   ordinary_table FILE.json ... > table.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "documents.h"

namespace {

using namespace lehr::bench;

struct Row {
  double speedup = 0;
  std::string text;
};

Row row_of(const std::string& path) {
  const nlohmann::json document = read_document(path);
  const double speedup = number(document, "speedup_vs_baseline");
  const nlohmann::json& baseline = document["baseline"];
  return {speedup, fmt::format("| {} | {} | {:.2f} | {} | {} | {:.2f} |",
                               document["workload"].get<std::string>(), threads_of(path),
                               number(document["best"], "time_us"), document["best"].value("template", "-"),
                               speedup > 0 ? fmt::format("{}, {}", baseline["name"].get<std::string>(),
                                                         ratio_text(document, "speedup_vs_baseline",
                                                                    "speedup_vs_baseline_interval"))
                                           : "none",
                               number(document, "speedup_vs_default"))};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Row> rows;
  for (int i = 1; i < argc; ++i) rows.push_back(row_of(argv[i]));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.speedup < b.speedup; });
  std::vector<double> speedups;
  double log_sum = 0;
  for (const Row& row : rows) {
    if (row.speedup <= 0) continue;
    speedups.push_back(row.speedup);
    log_sum += std::log(row.speedup);
  }
  if (!speedups.empty()) {
    const auto count = static_cast<double>(speedups.size());
    const auto slower = std::count_if(speedups.begin(), speedups.end(), [](double s) { return s < 0.97; });
    fmt::print(
        "{} random ordinary workloads, library's time over ours: geometric mean {:.2f}, tenth percentile "
        "{:.2f}, worst {:.2f}; {:.0f} % below 0.97.\n\n",
        speedups.size(), std::exp(log_sum / count), speedups[speedups.size() / 10], speedups.front(),
        100 * static_cast<double>(slower) / count);
  }
  fmt::print(
      "| workload | threads | ours us | family | vs the best of | vs default |\n|---|---|---|---|---|---|\n");
  for (const Row& row : rows) fmt::print("{}\n", row.text);
}
