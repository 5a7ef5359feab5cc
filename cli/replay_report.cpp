// Layout of replay's results.
#include "cli/replay_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/describe_json.h"
#include "base/text.h"
#include "cli/table.h"

namespace lehr {
namespace {

using nlohmann::json;

json json_of(const Figures& figures) {
  json fraction = json::object(), trials_to = json::object();
  for (std::size_t i = 0; i < kFractionTrials.size(); ++i) {
    const auto& value = figures.fraction[i];
    fraction[std::to_string(kFractionTrials[i])] =
        value ? json{{"median", value->median}, {"p10", value->p10}} : json(nullptr);
  }
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    trials_to[fmt::format("{:.2f}", kLevels[i])] = figures.trials_to[i];
  return {{"fraction", fraction}, {"trials_to", trials_to}, {"score", figures.score}};
}

std::vector<std::string> row_of(const std::string& name, const Figures& figures) {
  std::vector<std::string> row = {name};
  for (const auto& value : figures.fraction)
    row.push_back(value ? fmt::format("{:.3f} {:.3f}", value->median, value->p10) : "-");
  for (const auto& value : figures.trials_to) row.push_back(value ? fmt::format("{:.0f}", *value) : "-");
  row.push_back(fmt::format("{:.3f}", figures.score));
  return row;
}

std::string figures_table(const std::string& strategy, const Figures& searched, const Figures& random) {
  std::vector<std::string> header = {"<"};
  for (const std::size_t trials : kFractionTrials) header.push_back(fmt::format("@{}", trials));
  for (const double level : kLevels) header.push_back(fmt::format("to {:.0f} %", 100 * level));
  header.push_back("score");
  return format_table(header, {row_of(strategy, searched), row_of("random", random)});
}

// For a comma-separated file: quoted, with quotes doubled.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

Figures over(const std::vector<TableReport>& reports, Figures TableReport::* which) {
  std::vector<const Figures*> figures;
  for (const TableReport& report : reports) figures.push_back(&(report.*which));
  return over_tables(figures);
}

/// What of the table's times belongs to other kernels than it is searched with; "" where nothing is known to.
std::string kernels_text(const Table& table) {
  std::string text;
  const auto add = [&](std::size_t trials, const char* what) {
    if (trials > 0)
      text += fmt::format("{}{} timed trial{} {}", text.empty() ? "" : "; ", trials, trials == 1 ? "" : "s",
                          what);
  };
  add(table.other_kernels, "of kernels that this version makes otherwise");
  add(table.unknown_kernels, "without the hash of what was measured");
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string replay_text(const std::vector<TableReport>& reports, const ReplayPlan& plan) {
  std::string text;
  for (const TableReport& report : reports) {
    const Table& table = *report.table;
    const auto timed =
        std::ranges::count_if(table.rows, [](const TableRow& row) { return row.time_us.has_value(); });
    text += fmt::format("{}\n{} on {}: {} rows, {} failed, optimum {}\n", printable(table.file),
                        printable(table.kernel), printable(table.device), table.rows.size(),
                        static_cast<std::ptrdiff_t>(table.rows.size()) - timed,
                        format_time_us(table.optimum_us()));
    text += kernels_text(table);
    for (const std::string& source : report.learnt_from) text += fmt::format("learnt from {}\n", source);
    text += figures_table(plan.options.strategy, report.searched, report.random) + "\n";
  }
  if (reports.size() > 1)
    text += fmt::format("over {} tables\n{}\n", reports.size(),
                        figures_table(plan.options.strategy, over(reports, &TableReport::searched),
                                      over(reports, &TableReport::random)));
  text += fmt::format(
      "@n: fraction of the optimum after n trials, median and 10th percentile of {} seeds; to n %: trials, "
      "median; "
      "score: 0 random, 1 optimum\n",
      plan.seeds);
  return text;
}

json replay_json(const std::vector<TableReport>& reports, const ReplayPlan& plan) {
  json tables = json::array();
  for (const TableReport& report : reports) {
    json each = json_of(report.searched);
    each["table"] = report.table->file;
    each["kernel"] = report.table->kernel;
    each["device"] = report.table->device;
    each["rows"] = report.table->rows.size();
    each["other_kernels"] = report.table->other_kernels;
    each["unknown_kernels"] = report.table->unknown_kernels;
    each["optimum"] = report.table->optimum_us();
    each["random"] = json_of(report.random);
    each["transfer"] = report.learnt_from;
    tables.push_back(std::move(each));
  }
  json whole = json_of(over(reports, &TableReport::searched));
  whole["random"] = json_of(over(reports, &TableReport::random));
  return {{"strategy", plan.options.strategy},
          {"trials", plan.options.trials},
          {"seeds", plan.seeds},
          {"seed", plan.options.seed},
          {"tables", tables},
          {"over_tables", whole}};
}

std::string replay_plot(const std::vector<TableReport>& reports) {
  std::string text = "table,device,trial,fraction_median,fraction_p10,random_fraction\n";
  for (const TableReport& report : reports) {
    for (std::size_t i = 0; i < report.median.size(); ++i)
      text += fmt::format("{},{},{},{:.6f},{:.6f},{:.6f}\n", quoted(report.table->file),
                          quoted(report.table->device), i + 1, report.median[i], report.p10[i],
                          report.random_expected[i]);
  }
  return text;
}

}  // namespace lehr
