// Counts per task.
#include "cli/db_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "database/database.h"

namespace lehr {

DbCommand::DbCommand(CLI::App& root, const Environment& environment) : database_(environment.database) {
  CLI::App* db = root.add_subcommand("db", "Look into a trial log");
  db->require_subcommand(1);
  stats_ = db->add_subcommand("stats", "Count what a trial log holds");
  stats_->add_option("--db", database_, "the trial log (./lehr.db, or LEHR_DB)")->option_text(" ");
  stats_->add_flag("--json", json_, "one JSON document on stdout");
}

int DbCommand::run() {
  const DatabaseStats stats = Database::open_read_only(database_).stats();
  nlohmann::json tasks = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows;
  for (const TaskStats& task : stats.tasks) {
    nlohmann::json failed = nlohmann::json::object();
    std::string failed_text;
    for (const auto& [kind, count] : task.failed) {
      failed[kind] = count;
      failed_text += fmt::format("{}{} {}", failed_text.empty() ? "" : ", ", kind, count);
    }
    tasks.push_back({{"workload", task.workload},
                     {"device", task.device},
                     {"timed", task.timed},
                     {"failed", failed},
                     {"best_us", task.best_us > 0 ? nlohmann::json(task.best_us) : nlohmann::json(nullptr)},
                     {"first_unix_ms", task.first_unix_ms},
                     {"last_unix_ms", task.last_unix_ms}});
    rows.push_back({task.workload, std::to_string(task.timed), failed_text.empty() ? "-" : failed_text,
                    format_time_us(task.best_us), format_date(task.first_unix_ms),
                    format_date(task.last_unix_ms), task.device});
  }
  if (json_) {
    fmt::print("{}\n", nlohmann::json{{"database", database_},
                                      {"schema_version", stats.schema_version},
                                      {"file_bytes", stats.file_bytes},
                                      {"records", stats.records},
                                      {"damaged", stats.damaged},
                                      {"sessions", stats.sessions},
                                      {"tasks", tasks}}
                           .dump(2));
    return 0;
  }
  fmt::print("{}: {}, schema {}, {} trials of {} sessions, {} damaged\n", database_,
             format_bytes(static_cast<double>(stats.file_bytes)), stats.schema_version, stats.records,
             stats.sessions, stats.damaged);
  if (!rows.empty())
    fmt::print("\n{}", format_table({"<workload", "timed", "<failed", "best", "<first (UTC)", "<last (UTC)",
                                     "<device"},
                                    rows));
  return 0;
}

}  // namespace lehr
