// Chooses a config, lowers it, and prints the requested form.
#include "cli/show_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/tune_report.h"
#include "base/args.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/device_flags.h"
#include "cli/help.h"
#include "cli/show_model.h"
#include "cli/show_picks.h"
#include "cli/show_text.h"
#include "cli/standard_streams.h"
#include "codegen/emit.h"
#include "deploy/winners.h"
#include "ir/print.h"
#include "measure/core/format.h"
#include "measure/system/affinity.h"
#include "measure/worker/backends.h"
#include "templates/catalog.h"
#include "tune/stored_kernel.h"
#include "tune/task.h"

namespace lehr {
namespace {

/// Returns the kernel of a stored config; nullopt if the templates of this version do not have it.
std::optional<ir::Kernel> known_kernel(const Workload& workload, const Config& config, const Limits& limits) {
  try {
    return lower(workload, config, limits);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return std::nullopt;
  }
}

const std::vector<std::string> kForms = {"ast", "source", "features", "log", "model", "picks"};

}  // namespace

ShowCommand::ShowCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command =
      root.add_subcommand("show",
                          "Print a config's AST, source, features or compile log, what the model makes of "
                          "a task, or a task's first picks");
  kernel_.add_to(*command);
  value_flag(*command, kSearchGroup, "--sample", sample_,
             "a random config of the space, by seed; without it and --config: the best in the log, or the "
             "default");
  value_flag(*command, kSearchGroup, "--seed", seed_, "that of tune, for --as picks (0)");
  value_flag(
      *command, kOutputGroup, "--as", as_,
      "ast | source | features | log | model | picks (ast); log compiles it; model judges the cost model on "
      "the log's trials of the workload, of every device there that --device, --threads and --arch do not "
      "exclude; picks lists what tune begins with where no log knows the workload");
  value_flag(*command, kOutputGroup, "--db", database_, "the trial log (./lehr.db, or LEHR_DB)");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(
      examples({{"problem", "lehr show \"gemm m=512 n=512 k=512\" --as source --json"},
                {"search", "lehr show gemm --m 512 --n 512 --k 512 --arch sm_90a --sample 1 --as log"},
                {"measuring", "lehr show gemm --m 512 --n 512 --k 512 --arch sm_90a --as picks"},
                {"output", "lehr show gemm --m 512 --n 512 --k 512 --as model --db lehr.db"}}));
}

ShowCommand::Choice ShowCommand::choose(const Task& task) const {
  const Limits& limits = task.device.limits;
  const Candidates candidates = candidates_for(task);
  const auto choice = [&](const Point& point, std::string origin) {
    const Config config = candidates.space.config_of(point);
    return Choice{config, std::move(origin), limits, lower(*task.workload, config, limits)};
  };
  if (const std::optional<Point> point = kernel_.point(candidates.space)) {
    if (!sample_.empty()) throw_user("--config and --sample exclude each other");
    return choice(*point, "as given");
  }
  if (!sample_.empty()) {
    Rng rng(static_cast<std::uint64_t>(parse_number("--sample", sample_, 0, INT64_MAX)));
    return choice(candidates.space.sample(rng), "sample " + sample_);
  }
  if (std::optional<Choice> best = choose_from_log(*task.workload, limits)) return *std::move(best);
  return choice(candidates.defaults[0],
                fmt::format("the default; {} knows none of this workload", database_));
}

std::optional<ShowCommand::Choice> ShowCommand::choose_from_log(const Workload& workload,
                                                                const Limits& limits) const {
  if (!std::filesystem::exists(database_)) return std::nullopt;
  const LoggedDevices devices = kernel_.logged_devices();
  RecordFilter filter;
  filter.workload = to_text(workload);
  filter.target = name_of(limits.target);
  for (const Winner& winner : winners(Database::open_read_only(database_), filter)) {
    if (winner.record.arch != limits.arch || !devices.include(winner.record)) continue;
    const Limits own = winner.device ? limits_of(*winner.device) : limits;
    std::optional<ir::Kernel> kernel = known_kernel(workload, winner.record.config, own);
    if (!kernel) continue;
    return Choice{winner.record.config,
                  fmt::format("the best in {}, {}", database_, format_time_us(winner.verdict.best)),
                  own,
                  *std::move(kernel),
                  winner.record,
                  winner.device.has_value()};
  }
  return std::nullopt;
}

/// Returns whether the shown kernel is the measured kernel; null if none was measured. Warns if the kernels
/// differ.
nlohmann::json ShowCommand::as_measured(const Choice& choice, const Source& source) {
  if (!choice.record) return nullptr;
  const std::optional<std::string> another = why_another(*choice.record, source);
  if (!another) return true;
  tell("warning: what is shown need not be what was measured: {}{}", *another,
       choice.facts_known ? ""
                          : ", and the log does not know the facts of the device that it was measured on");
  return false;
}

int ShowCommand::run() {
  parse_choice("--as", as_, kForms);
  const Workload problem = kernel_.workload();
  if (as_ == "model") return run_model(to_text(problem));
  if (as_ == "picks") return run_picks(problem);
  if (is_range(problem)) return run_set(to_text(problem));
  const Choice choice = choose(task_of(problem, kernel_.device(problem, environment_)));
  const ir::Kernel& kernel = choice.kernel;
  const Source source = emit(kernel);
  nlohmann::json document = {{"workload", to_text(problem)},
                             {"arch", choice.limits.arch},
                             {"config", to_text(choice.config)},
                             {"chosen", choice.origin},
                             {"as_measured", as_measured(choice, source)}};
  // A comment in C++, so that the printed source still compiles.
  std::string text = fmt::format("// workload: {}\n// arch: {}\n// config: {}\n// chosen: {}\n",
                                 to_text(problem), choice.limits.arch, to_text(choice.config), choice.origin);
  int code = 0;
  if (as_ == "ast")
    show_ast(kernel, document, text);
  else if (as_ == "source")
    show_source(source, document, text);
  else if (as_ == "features")
    show_features(kernel, choice.limits, document, text);
  else
    code =
        show_log(source,
                 *make_compiler(choice.limits, environment_,
                                {1, choice.record ? isa_of_identity(choice.record->device) : kernel_.isa()}),
                 document, text);
  if (json_)
    print_json(document);
  else
    fmt::print("{}", text);
  return code;
}

/// Shows the kernels that serve a range of rows. Each kernel's source and other forms can only be shown under
/// the kernel's own workload.
int ShowCommand::run_set(const std::string& range) const {
  if (kernel_.has_config() || !sample_.empty())
    throw_user("'{}' has no config of its own: ask for its kernels, as m=..{}", range,
               call_rows(parse_workload(range)).most);
  const LoggedDevices devices = kernel_.logged_devices();
  nlohmann::json document = nlohmann::json::array();
  for (const Winner& winner : winners(Database::open_read_only(database_), {.workload = range})) {
    if (!devices.include(winner.record)) continue;
    document.push_back({{"workload", range}, {"device", winner.record.device}, {"set", winner.rows}});
    if (!json_)
      fmt::print("workload: {}\ndevice: {}\n\n{}", range, printable(winner.record.device),
                 set_text(*winner.rows));
  }
  if (document.empty())
    throw_not_found("{} holds no set of kernels for '{}'; lehr tune gemm --m A..B makes one", database_,
                    range);
  if (json_) print_json(document);
  return 0;
}

int ShowCommand::run_picks(const Workload& workload) const {
  if (kernel_.has_config() || !sample_.empty())
    throw_user("--as picks is about a whole space; leave out --config and --sample");
  const auto seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
  const Task task = task_of(workload, kernel_.device(workload, environment_, true));
  nlohmann::json document = {
      {"workload", to_text(workload)}, {"arch", task.device.limits.arch}, {"seed", seed}};
  std::string text =
      fmt::format("workload: {}\narch: {}\nseed: {}\n", to_text(workload), task.device.limits.arch, seed);
  const auto threads = static_cast<int>(allowed_cpus().size());
  show_picks(first_picks(candidates_for(task), task.device.limits, seed, threads), document, text);
  fmt::print("{}", json_ ? document.dump(2) + "\n" : text);
  return 0;
}

int ShowCommand::run_model(const std::string& workload) const {
  if (kernel_.has_config() || !sample_.empty())
    throw_user("--as model is about all trials of a workload; leave out --config and --sample");
  const LoggedDevices devices = kernel_.logged_devices();
  const Database database = Database::open_read_only(database_);
  const std::vector<LoggedTask> tasks = logged_tasks(database, workload, devices);
  nlohmann::json document = {{"workload", workload}};
  std::string text = fmt::format("workload: {}\n", workload);
  show_model(tasks, database.devices(), database_, workload, document, text);
  fmt::print("{}", json_ ? document.dump(2) + "\n" : text);
  return 0;
}

}  // namespace lehr
