// Turns the documents of `lehr tune --json` (one per file) into the committed Markdown table: ours against
// each vendor library, with the geometric mean and the worst row.
//   markdown_table FILE.json ... > table.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "documents.h"
#include "tune/roofline.h"

namespace {

using namespace lehr::bench;
using lehr::is_winograd;
using nlohmann::json;

std::string baseline_text(const json& document, const std::string& name) {
  if (!document.contains("baselines")) return "-";
  for (const json& entry : document["baselines"]) {
    if (entry.value("name", "") != name || number(entry, "time_us") <= 0) continue;
    const std::string way =
        name == "onednn" && entry["note"].is_string() ? entry["note"].get<std::string>() : "";
    return fmt::format("{:.1f}{}{}", number(entry, "time_us"), way.empty() ? "" : ", ", way);
  }
  return "-";
}

/// Returns the share of the roofline: at most 1, but for a family that may be above it. Older documents, from
/// before the peaks rose to what kernels reach, say more.
double share_of(const json& document) {
  const double share = number(document, "roofline_fraction");
  if (!document["best"].is_object() || is_winograd(document["best"].value("template", ""))) return share;
  return std::min(share, 1.0);
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print(
      "| problem | threads | ours us | GFLOP/s | roofline | OpenBLAS us | oneDNN us | vs fastest library | "
      "vs default | "
      "trials | s | tuner's own share |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  double log_sum = 0;
  double worst = 1e30;
  double most_share = 0;
  int rows = 0;
  for (int i = 1; i < argc; ++i) {
    const json document = read_document(argv[i]);
    const double speedup = number(document, "speedup_vs_baseline");
    const json& elapsed = document["elapsed_s"];
    fmt::print(
        "| {} | {} | {:.1f} | {:.1f} | {:.0f} % | {} | {} | {} | {:.2f} | {:.0f} | {:.0f} | {:.0f} % |\n",
        shape_of(document["workload"].get<std::string>()), threads_of(argv[i]),
        number(document["best"], "time_us"), number(document["best"], "gflops"), 100 * share_of(document),
        baseline_text(document, "openblas"), baseline_text(document, "onednn"),
        ratio_text(document, "speedup_vs_baseline", "speedup_vs_baseline_interval"),
        number(document, "speedup_vs_default"), number(document["trials"], "measured"),
        number(elapsed, "total"), 100 * number(elapsed, "search") / std::max(1e-9, number(elapsed, "total")));
    most_share = std::max(most_share, share_of(document));
    if (speedup > 0) {
      log_sum += std::log(speedup);
      worst = std::min(worst, speedup);
      ++rows;
    }
  }
  if (rows > 0) {
    fmt::print(
        "\nGeometric mean over {} rows: {:.3f}; worst row: {:.3f} (ratio of times, library / ours, the "
        "median of "
        "interleaved rounds; above 1 we are faster).\n",
        rows, std::exp(log_sum / rows), worst);
  }
  if (const std::string_view why = lehr::why_above_all(most_share); !why.empty())
    fmt::print("\nRoofline: {}.\n", why);
}
