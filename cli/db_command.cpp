// The subcommands of `lehr db`.
#include "cli/db_command.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>

#include "base/describe_json.h"
#include "base/error.h"
#include "cli/cluster_report.h"
#include "cli/db_report.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "cli/standard_streams.h"
#include "database/salvage.h"
#include "measure/core/format.h"
#include "tune/known_best.h"

namespace lehr {
DbCommand::DbCommand(CLI::App& root, const Environment& environment)
    : columns_(environment.columns), database_(environment.database) {
  CLI::App* command = root.add_subcommand("db", "Look into a trial log, check it, join and save logs");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, const char* file, bool optional) {
    CLI::App* sub = command->add_subcommand(name, help);
    CLI::Option* option = sub->add_option(optional ? std::string("--db,") + file : file, database_,
                                          optional ? "the trial log (./lehr.db, or LEHR_DB)" : "")
                              ->group(optional ? kOutputGroup : "Options")
                              ->option_text(" ");
    if (!optional) option->required();
    return sub;
  };
  const auto add_others = [&](CLI::App* sub, const char* name, const char* help) {
    return sub->add_option(name, others_, help)->option_text(" ")->required();
  };
  const auto add_json = [&](CLI::App* sub) {
    switch_flag(*sub, kOutputGroup, "--json", json_, "one JSON document on stdout");
  };

  stats_ = add("stats", "Count what a trial log holds", "FILE", true);
  verify_ = add("verify", "Check every row's checksum and the file's structure; exit code 4 for damage",
                "FILE", true);
  merge_ =
      add("merge", "Add the rows of other logs that INTO does not have yet, all or nothing", "INTO", false);
  add_others(merge_, "FROM", "logs; none of them is changed");
  salvage_ = add("salvage", "Write what is left of a damaged log to a new one", "TORN", false);
  add_others(salvage_, "NEW", "the file to make")->expected(1);
  switch_flag(
      *merge_, "Rows", "--trusted", trusted_,
      "they are one's own: what they say of winners and of configs that kill a worker counts as seen here");
  progress_ = command->add_subcommand("progress", "Tell how far the shards of a run are");
  progress_->add_option("DIR", folder_, "what `lehr tune --publish` was given")->option_text(" ")->required();
  for (CLI::App* sub : {stats_, verify_, merge_, salvage_, progress_}) add_json(sub);
  command->footer(examples({{"check", "lehr db verify lehr.db"},
                            {"join", "lehr db merge all.db node1.db node2.db"},
                            {"shards", "lehr db progress DIR"},
                            {"save", "lehr db salvage torn.db saved.db"}}));
}

int DbCommand::run() {
  if (verify_->parsed()) return verify();
  if (merge_->parsed()) return merge();
  if (salvage_->parsed()) return salvage();
  if (progress_->parsed()) return progress();
  return stats();
}

int DbCommand::stats() const {
  const Database log = Database::open_read_only(database_);
  DatabaseStats stats = log.stats();
  for (TaskStats& task : stats.tasks) {  // the time that `lehr best` reports
    const RecordFilter where = {.workload = task.workload, .device = task.device};
    if (const auto best = known_best(log, where, log.verdicts(where))) task.best_us = best->verdict.best.us;
  }
  if (json_) {
    nlohmann::json document = stats;
    document["database"] = database_;
    print_json(document);
  } else {
    fmt::print("{}", stats_text(database_, stats, columns_));
  }
  return 0;
}

int DbCommand::progress() const {
  const cluster::Survey survey = cluster::survey_of(folder_, now_unix_ms());
  if (json_)
    print_json(survey);
  else
    fmt::print("{}", survey_text(survey, columns_));
  return 0;
}

int DbCommand::verify() const {
  const Verification found = Database::open_read_only(database_).verify();
  if (json_) {
    nlohmann::json document = found;
    document["database"] = database_;
    print_json(document);
  } else {
    fmt::print("{}", verification_text(database_, found));
  }
  return found.sound() ? 0 : kCheckFailedCode;
}

int DbCommand::merge() const {
  for (const std::string& file : others_) Database::open_read_only(file);  // throws before anything has begun
  Database into = Database::open(database_);
  ProgressPrinter progress(progress_style("", false));
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t trials = 0;
  const auto on_merged = [&](std::size_t done, const AddedRows& rows) {
    const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    trials += rows.trials.added + rows.trials.present;
    if (elapsed_s < 2) return;
    api::Progress reported;
    reported.kind = api::Progress::Kind::kTrial;
    reported.text = merging_text(done, others_.size(), trials, elapsed_s);
    reported.elapsed_s = elapsed_s;
    progress.show(reported);
  };
  const std::vector<AddedRows> added = into.merge({others_.begin(), others_.end()},
                                                  trusted_ ? Trust::kAsRunHere : Trust::kEvidence, on_merged);
  progress.finish();
  nlohmann::json documents = nlohmann::json::array();
  for (std::size_t i = 0; i < added.size(); ++i) {
    nlohmann::json document = added[i];
    document["from"] = others_[i];
    documents.push_back(std::move(document));
  }
  if (json_)
    print_json({{"database", database_}, {"merged", documents}});
  else
    fmt::print("{}", merged_text(others_, added));
  const bool damaged = std::ranges::any_of(added, [](const AddedRows& rows) { return rows.refused() > 0; });
  return damaged ? kCheckFailedCode : 0;
}

int DbCommand::salvage() const {
  const AddedRows rows = lehr::salvage(database_, others_[0]);
  if (json_) {
    nlohmann::json document = rows;
    document["database"] = others_[0];
    document["from"] = database_;
    print_json(document);
  } else {
    fmt::print("{}: {} and {} saved from '{}'; {} more had a wrong checksum\n", others_[0],
               fmt::format("{} trial{}", rows.trials.added, rows.trials.added == 1 ? "" : "s"),
               fmt::format("{} verdict{}", rows.verdicts.added, rows.verdicts.added == 1 ? "" : "s"),
               database_, rows.refused());
  }
  return 0;
}

}  // namespace lehr
