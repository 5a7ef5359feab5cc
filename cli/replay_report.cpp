// Formats the results of a replay.
#include "cli/replay_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "measure/core/format.h"
#include "workload/short_text.h"

namespace lehr {
namespace {

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

/// Returns a line with the number of timed trials whose kernels differ from those that this version makes; ""
/// if there are no such trials.
std::string kernels_text(const Table& table) {
  if (table.other_kernels == 0) return "";
  return fmt::format("{} timed trial{} of kernels that this version makes otherwise\n", table.other_kernels,
                     table.other_kernels == 1 ? "" : "s");
}

}  // namespace

std::string replay_text(const std::vector<TableReport>& reports, const ReplayPlan& plan) {
  std::string text;
  for (const TableReport& report : reports) {
    const Table& table = *report.table;
    const auto timed =
        std::ranges::count_if(table.rows, [](const TableRow& row) { return row.time_us.has_value(); });
    text += fmt::format("{}\n{} on {}: {} rows, {} failed, optimum {}\n", printable(table.file),
                        printable(short_text(table.kernel)), printable(table.device), table.rows.size(),
                        static_cast<std::ptrdiff_t>(table.rows.size()) - timed,
                        format_time_us(table.optimum_us()));
    text += kernels_text(table);
    for (const std::string& source : report.learnt_from) text += fmt::format("learnt from {}\n", source);
    text += figures_table(plan.options.strategy, report.searched, report.random) + "\n";
  }
  if (reports.size() > 1)
    text += fmt::format("over {} tables\n{}\n", reports.size(),
                        figures_table(plan.options.strategy, over_tables(reports, &TableReport::searched),
                                      over_tables(reports, &TableReport::random)));
  text += fmt::format(
      "@n: fraction of the optimum after n trials, median and 10th percentile of {} seeds; to n %: trials, "
      "median; "
      "score: 0 random, 1 optimum\n",
      plan.seeds);
  return text;
}

}  // namespace lehr
