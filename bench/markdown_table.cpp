// Turns the documents of `lehr tune --json` (one per file) into the committed Markdown table: ours against
// each vendor library, with the geometric mean and the worst row.
//   markdown_table FILE.json ... > table.md
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

// "gemm m=512 n=512 k=512 batch=1 ..." -> "512 x 512 x 512"; a conv2d -> "56 x 56 x 64 -> 64, 3 x 3 / 1x1"
std::string shape_of(const std::string& workload) {
  const auto value = [&](const std::string& key) {
    const std::size_t at = workload.find(" " + key + "=");
    if (at == std::string::npos) return std::string("?");
    const std::size_t begin = at + key.size() + 2;
    return workload.substr(begin, workload.find(' ', begin) - begin);
  };
  if (workload.starts_with("conv2d"))
    return fmt::format("{} x {} x {} -> {}, {} x {} / {}", value("h"), value("w"), value("c"), value("k"),
                       value("r"), value("s"), value("stride"));
  return fmt::format("{} x {} x {}", value("m"), value("n"), value("k"));
}

double number(const json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0.0;
}

// "1.061 +-0.012": half the width of the 95 % interval; older documents have none.
std::string ratio_text(const json& document, const std::string& key) {
  const std::string ratio = fmt::format("{:.3f}", number(document, key.c_str()));
  const json interval = document.value(key + "_interval", json());
  if (!interval.is_array() || interval.size() != 2) return ratio;
  return fmt::format("{} +-{:.3f}", ratio, (interval[1].get<double>() - interval[0].get<double>()) / 2);
}

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

}  // namespace

int main(int argc, char** argv) {
  fmt::print(
      "| problem | threads | ours us | GFLOP/s | roofline | OpenBLAS us | oneDNN us | vs fastest library | "
      "vs default | "
      "trials | s | tuner's own share |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  double log_sum = 0;
  double worst = 1e30;
  int rows = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    const json document = json::parse(file, nullptr, false);
    if (document.is_discarded() || !document.contains("workload")) {
      fmt::print(stderr, "{} is not a document of `lehr tune --json`\n", argv[i]);
      return 1;
    }
    const double speedup = number(document, "speedup_vs_baseline");
    const json& elapsed = document["elapsed_s"];
    fmt::print(
        "| {} | {} | {:.1f} | {:.1f} | {:.0f} % | {} | {} | {} | {:.2f} | {:.0f} | {:.0f} | {:.0f} % |\n",
        shape_of(document["workload"].get<std::string>()),
        std::string(argv[i]).find("_1t") != std::string::npos ? "1" : "all",
        number(document["best"], "time_us"), number(document["best"], "gflops"),
        100 * number(document, "roofline_fraction"), baseline_text(document, "openblas"),
        baseline_text(document, "onednn"), ratio_text(document, "speedup_vs_baseline"),
        number(document, "speedup_vs_default"), number(document["trials"], "measured"),
        number(elapsed, "total"), 100 * number(elapsed, "search") / std::max(1e-9, number(elapsed, "total")));
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
}
