#include "cli/db_report.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "measure/core/format.h"
#include "workload/short_text.h"

namespace lehr {
namespace {

constexpr std::size_t kMostShown = 20;

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string stats_text(const std::string& file, const DatabaseStats& stats, std::size_t width) {
  std::vector<std::vector<std::string>> rows;
  for (const TaskStats& task : stats.tasks) {
    std::string failed;
    for (const auto& [kind, count] : task.failed)
      failed += fmt::format("{}{} {}", failed.empty() ? "" : ", ", kind, count);
    rows.push_back({short_text(task.workload), std::to_string(task.timed), failed.empty() ? "-" : failed,
                    format_time_us(task.best_us), format_date(task.first_unix_ms),
                    format_date(task.last_unix_ms), task.device});
  }
  std::string text = fmt::format("{}: {}, schema {}, {} of {}, {}\n", file,
                                 format_bytes(static_cast<double>(stats.file_bytes)), stats.schema_version,
                                 counted(stats.records, "trial"), counted(stats.sessions, "session"),
                                 counted(stats.verdicts, "verdict"));
  for (const auto& [log, sessions] : stats.merged_sessions)
    text += fmt::format("{} merged from {}\n", counted(sessions, "session"), printable(log));
  if (!rows.empty())
    text += "\n" +
            format_table({"<workload", "timed", "<failed", "best", "<first (UTC)", "<last (UTC)", "<device"},
                         rows, {.width = width});
  return text;
}

std::string verification_text(const std::string& file, const Verification& found) {
  std::string text;
  for (const std::string& line : found.structure) text += fmt::format("{}: {}\n", file, printable(line));
  for (std::size_t i = 0; i < std::min(found.damaged.size(), kMostShown); ++i) {
    const DamagedRow& row = found.damaged[i];
    text += fmt::format("{}: row {} of table {} (id {}) is damaged: {}\n", file, row.seq, row.table,
                        printable(row.id), row.problem);
  }
  if (found.damaged.size() > kMostShown)
    text += fmt::format("... and {} more; --json lists all\n", found.damaged.size() - kMostShown);
  if (found.without_device > 0)
    text += fmt::format("{}: the devices of {} are not in it: lehr export cannot make their kernels again\n",
                        file, counted(found.without_device, "trial"));
  const std::string looked =
      fmt::format("{}, {} and {}", counted(found.records, "trial"), counted(found.verdicts, "verdict"),
                  counted(found.devices, "device"));
  if (found.sound()) return text + fmt::format("{}: sound, {}\n", file, looked);
  return text + fmt::format("{}: {} among {} looked at{}\n", file,
                            counted(std::ssize(found.damaged), "damaged row"), looked,
                            found.structure.empty() ? "; they are passed over everywhere"
                                                    : "; lehr db salvage writes what is left to a new file");
}

namespace {

/// Returns "12 trials and 1 verdict added, 3 were there already, 2 damaged rows left out".
std::string added_text(const AddedRows& rows) {
  const auto both = [&](std::int64_t RowCounts::* count) {  // devices do not count
    return rows.trials.*count + rows.verdicts.*count;
  };
  std::string text = fmt::format("{} and {} added", counted(rows.trials.added, "trial"),
                                 counted(rows.verdicts.added, "verdict"));
  if (rows.devices.added > 0) text += ", with " + counted(rows.devices.added, "device");
  if (const auto count = both(&RowCounts::present)) text += fmt::format(", {} were there already", count);
  if (const auto count = both(&RowCounts::conflicting))
    text += fmt::format(", {} left out because another has the same id", count);
  if (const auto count = rows.refused())
    text += fmt::format(", {} left out because their checksum is wrong", count);
  return text;
}

void add(AddedRows& sum, const AddedRows& rows) {
  for (const auto table : {&AddedRows::trials, &AddedRows::verdicts, &AddedRows::devices, &AddedRows::origins,
                           &AddedRows::algorithms})
    for (const auto count :
         {&RowCounts::added, &RowCounts::present, &RowCounts::conflicting, &RowCounts::refused})
      sum.*table.*count += rows.*table.*count;
}

}  // namespace

std::string merged_text(const std::vector<std::string>& files, const std::vector<AddedRows>& added) {
  std::string text;
  AddedRows sum;
  for (std::size_t i = 0; i < files.size(); ++i) {
    add(sum, added[i]);
    if (files.size() == 1 || added[i].trials.conflicting + added[i].refused() > 0)
      text += fmt::format("{}: {}\n", printable(files[i]), added_text(added[i]));
  }
  return files.size() == 1 ? text : text + fmt::format("{} logs: {}\n", files.size(), added_text(sum));
}

std::string merging_text(std::size_t done, std::size_t logs, std::int64_t trials, double elapsed_s) {
  const auto part = static_cast<double>(done) / static_cast<double>(logs);
  return fmt::format("{} of {} merged, {}, {:.0f} a second, {} left", done, counted(logs, "log"),
                     counted(trials, "trial"), static_cast<double>(trials) / elapsed_s,
                     format_seconds(elapsed_s * (1 - part) / part));
}

}  // namespace lehr
