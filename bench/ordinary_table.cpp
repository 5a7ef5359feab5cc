// Turns the documents of bench/ordinary into its table, the slowest row first: the winner against the best of
// the vendor libraries and the unfused pair, and how many verdicts their own trials contradict.
//   ordinary_table LOG FILE.json ... > table.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "behind.h"
#include "documents.h"

namespace {

using namespace lehr::bench;

struct Row {
  double speedup = 0;
  std::string text;
  std::pair<std::string, double> behind;
};

/// Says whether the winner was proven, and which libraries were not timed.
std::string notes_of(const nlohmann::json& document) {
  std::string notes;
  const auto add = [&](const std::string& note) { notes += (notes.empty() ? "" : "; ") + note; };
  if (document.value("provisional", false)) add("not proven");
  if (!document.value("contested", true)) add("no contest");
  for (const nlohmann::json& each : document.value("baselines", nlohmann::json::array()))
    if (each["missing"].is_string() && each["missing"].get<std::string>().starts_with("no time"))
      add(each["name"].get<std::string>() + " not timed");
  return notes;
}

Row row_of(const std::string& path, const lehr::Database& log) {
  const nlohmann::json document = read_document(path);
  const double speedup = number(document, "speedup_vs_baseline");
  const nlohmann::json& baseline = document["baseline"];
  return {speedup,
          fmt::format(
              "| {} | {} | {:.2f} | {} | {} | {:.2f} | {} |", document["workload"].get<std::string>(),
              threads_of(path), number(document["best"], "time_us"), document["best"].value("template", "-"),
              speedup > 0
                  ? fmt::format("{}, {}", baseline["name"].get<std::string>(),
                                ratio_text(document, "speedup_vs_baseline", "speedup_vs_baseline_interval"))
                  : "none",
              number(document, "speedup_vs_default"), notes_of(document)),
          {document["workload"].get<std::string>(), behind_three(document, log)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: ordinary_table LOG FILE.json ...\n");
    return 2;
  }
  const lehr::Database log = lehr::Database::open_read_only(argv[1]);
  std::vector<Row> rows;
  for (int i = 2; i < argc; ++i) rows.push_back(row_of(argv[i], log));
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
  std::vector<std::pair<std::string, double>> behind;
  for (const Row& row : rows) behind.push_back(row.behind);
  fmt::print("{}\n\n", behind_text(behind));
  fmt::print(
      "| workload | threads | ours us | family | vs the best of | vs default | |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows) fmt::print("{}\n", row.text);
}
