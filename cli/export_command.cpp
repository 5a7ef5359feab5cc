// Winners -> file.
#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/remeasure.h"
#include "cli/signals.h"
#include "cli/table.h"

namespace lehr {
ExportCommand::ExportCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  app_ = root.add_subcommand("export", "Write the winners with their sources as one JSON file");
  filter_.add_to(*app_);
  value_flag(*app_, kOutputGroup, "--db", database_, "the trial log (./lehr.db, or LEHR_DB)");
  value_flag(*app_, kOutputGroup, "--out", out_, "the file to write; an old one is replaced in one step");
  switch_flag(*app_, kMeasuringGroup, "--remeasure", remeasure_,
              "check and time winners that cannot be made again as they were measured, as this version makes "
              "them, where their device is at hand");
  switch_flag(*app_, kOutputGroup, "--json", json_, "what was done as JSON on stdout");
  app_->footer(examples({{"filters", "lehr export --out winners.json --target cpu"},
                         {"measuring", "lehr export --out winners.json --remeasure"},
                         {"output", "lehr export --db llama.db --out winners.json --json"}}));
}

bool ExportCommand::chosen() const {
  return app_->parsed();
}

bool ExportCommand::remeasure_all(const std::vector<Winner>& found,
                                  const std::vector<Skipped>& skipped) const {
  if (std::ranges::none_of(skipped, &Skipped::remeasuring_helps)) return true;
  const std::atomic<bool>& interrupted = watch_signals();
  Database database = Database::open(database_);
  if (!database.note().empty()) fmt::print(stderr, "note: {}\n", database.note());
  for (const Skipped& each : skipped) {
    if (!each.remeasuring_helps) continue;
    const std::string said = remeasure(found[each.winner], database, environment_, interrupted);
    if (interrupted) return false;
    fmt::print(stderr, "note: {}\n", printable(said));
  }
  return true;
}

int ExportCommand::run() {
  if (out_.empty()) throw_user("--out is missing: name the file to write, such as --out winners.json");
  const RecordFilter filter = filter_.filter();
  std::vector<Winner> found = winners(Database::open_read_only(database_), filter);
  if (found.empty()) throw_not_found("{} holds no timed trial that matches; nothing is written", database_);
  Bundle bundle = make_bundle(found, kToolVersion);
  if (remeasure_) {
    if (!remeasure_all(found, bundle.skipped)) return kInterruptedCode;
    found = winners(Database::open_read_only(database_), filter);
    bundle = make_bundle(found, kToolVersion);
  }
  nlohmann::json skipped = nlohmann::json::array();
  for (const Skipped& each : bundle.skipped) {
    fmt::print(stderr, "lehr: {}\n", printable(each.reason));
    skipped.push_back(each.reason);
  }
  if (bundle.kernels == 0)
    throw_not_found("none of the {} winners of {} can be exported here", found.size(), database_);
  write_atomically(out_, bundle.text);
  if (json_)
    print_json({{"file", out_}, {"kernels", bundle.kernels}, {"skipped", skipped}});
  else
    fmt::print("{} kernel{} written to {}\n", bundle.kernels, bundle.kernels == 1 ? "" : "s", out_);
  return 0;
}

}  // namespace lehr
