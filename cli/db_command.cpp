// The subcommands of `lehr db`.
#include "cli/db_command.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/describe_json.h"
#include "base/error.h"
#include "cli/db_report.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "database/salvage.h"
#include "measure/core/format.h"
#include "tune/known_best.h"

namespace lehr {
namespace {

/// A log that is written to; says what opening did to it.
Database open_for_writing(const std::string& file) {
  Database database = Database::open(file);
  if (!database.note().empty()) tell("note: {}", database.note());
  return database;
}

void write_line(std::string_view line) {
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fputc('\n', stdout) == EOF)
    throw_environment("the output cannot be written: {}", std::strerror(errno));
}

}  // namespace

DbCommand::DbCommand(CLI::App& root, const Environment& environment) : database_(environment.database) {
  CLI::App* command = root.add_subcommand("db", "Look into a trial log, check it, join, move and save logs");
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
  dump_ = add("dump", "Write every row as one line of JSON to stdout", "FILE", true);
  import_ = add("import", "Add the rows of such lines, all or nothing", "FILE", false);
  add_others(import_, "JSONL", "what lehr db dump wrote");
  salvage_ = add("salvage", "Write what is left of a damaged log to a new one", "TORN", false);
  add_others(salvage_, "NEW", "the file to make")->expected(1);
  for (CLI::App* sub : {merge_, import_})
    switch_flag(
        *sub, "Rows", "--trusted", trusted_,
        "they are one's own: what they say of winners and of configs that kill a worker counts as seen here");
  for (CLI::App* sub : {stats_, verify_, merge_, import_, salvage_}) add_json(sub);
  command->footer(examples({{"check", "lehr db verify lehr.db"},
                            {"join", "lehr db merge all.db node1.db node2.db"},
                            {"move", "lehr db dump lehr.db > log.jsonl; lehr db import copy.db log.jsonl"},
                            {"save", "lehr db salvage torn.db saved.db"}}));
}

int DbCommand::run() {
  if (verify_->parsed()) return verify();
  if (merge_->parsed()) return merge();
  if (dump_->parsed()) return dump();
  if (import_->parsed()) return import();
  if (salvage_->parsed()) return salvage();
  return stats();
}

int DbCommand::stats() const {
  const Database log = Database::open_read_only(database_);
  DatabaseStats stats = log.stats();
  for (TaskStats& task : stats.tasks) {  // the time that `lehr best` tells
    const RecordFilter where = {.workload = task.workload, .device = task.device};
    if (const auto best = known_best(log, where, log.verdicts(where))) task.best_us = best->verdict.best.us;
  }
  if (json_) {
    nlohmann::json document = stats;
    document["database"] = database_;
    print_json(document);
  } else {
    fmt::print("{}", stats_text(database_, stats));
  }
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

Trust DbCommand::trust() const {
  return trusted_ ? Trust::kAsRunHere : Trust::kEvidence;
}

void DbCommand::print_added(const char* done, const std::vector<AddedRows>& added) const {
  nlohmann::json documents = nlohmann::json::array();
  for (std::size_t i = 0; i < added.size(); ++i) {
    nlohmann::json document = added[i];
    document["from"] = others_[i];
    documents.push_back(std::move(document));
    if (!json_) fmt::print("{}: {}\n", others_[i], added_text(added[i]));
  }
  if (json_) print_json({{"database", database_}, {done, documents}});
}

int DbCommand::merge() const {
  std::vector<Database> from;
  for (const std::string& file : others_) {  // all can be read, or nothing is begun
    std::error_code ignored;
    if (std::filesystem::equivalent(file, database_, ignored))
      throw_user("'{}' cannot be merged into itself", file);
    from.push_back(Database::open_read_only(file));
  }
  Database into = open_for_writing(database_);
  const std::vector<AddedRows> added = into.merge(from, trust());
  print_added("merged", added);
  const bool damaged = std::ranges::any_of(added, [](const AddedRows& rows) { return rows.refused() > 0; });
  return damaged ? kCheckFailedCode : 0;
}

int DbCommand::dump() const {
  const std::int64_t left_out = Database::open_read_only(database_).dump(write_line);
  if (std::fflush(stdout) != 0) throw_environment("the output cannot be written: {}", std::strerror(errno));
  if (left_out == 0) return 0;
  tell("lehr: {} damaged row{} left out; lehr db verify names {}", left_out,
       left_out == 1 ? " was" : "s were", left_out == 1 ? "it" : "them");
  return kCheckFailedCode;
}

int DbCommand::import() const {
  const std::vector<std::filesystem::path> files(others_.begin(), others_.end());
  for (const std::filesystem::path& file : files)
    if (!std::filesystem::exists(file)) throw_user("there is no file '{}'", file.string());
  const std::vector<AddedRows> added = open_for_writing(database_).import_lines(files, trust());
  print_added("imported", added);
  return 0;
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
