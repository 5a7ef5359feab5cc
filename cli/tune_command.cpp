// Wires device, space, strategy, model and database into one session per workload.
#include "cli/tune_command.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "apply/served.h"
#include "cli/args.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/model_report.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "cli/tune_report.h"
#include "measure/core/format.h"
#include "measure/system/affinity.h"
#include "tune/session_id.h"
#include "tune/task_run.h"

namespace lehr {
namespace {

constexpr int kNothingFoundCode = 3;
constexpr std::int64_t kMostTrials = 10'000'000;

// Where that was asked for; says on stderr what is not.
bool all_deterministic(const std::vector<Summary>& summaries) {
  bool all_same = true;
  for (const Summary& summary : summaries) {
    if (summary.determinism.empty() || summary.verdict.deterministic.value_or(false)) continue;
    tell("lehr: '{}': {}", summary.workload, summary.determinism);
    all_same = false;
  }
  return all_same;
}

bool all_proven(const std::vector<Summary>& summaries) {
  bool all = true;
  for (const Summary& summary : summaries) {
    if (summary.unproven.empty()) continue;
    tell("lehr: '{}': {}", summary.workload, summary.unproven);
    all = false;
  }
  return all;
}

// The exit code of tunings that came to their end; says on stderr why it is not 0.
int code_of(const std::vector<Summary>& summaries) {
  if (!all_proven(summaries)) return kCheckFailedCode;
  const auto failed = std::ranges::find_if(summaries, [](const Summary& summary) { return !summary.best; });
  if (failed != summaries.end()) {
    tell("lehr: no candidate of '{}' ran: {} failed ({}), the first with {}", failed->workload,
         failed->measured, failures_text(failed->failed), failed->first_failure);
    return kNothingFoundCode;
  }
  return all_deterministic(summaries) ? 0 : kCheckFailedCode;
}

}  // namespace

TuneCommand::TuneCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command = root.add_subcommand("tune", "Find the fastest kernel of a workload on this machine");
  problem_.add_to(*command, "Tune a {}, or every combination of the sizes given");
  problem_.add_file();
  model_.add_to(*command, "--model");
  for (CLI::App* app : problem_.operators()) add_flags(*app);
  add_flags(*command);
}

void TuneCommand::add_flags(CLI::App& app) {
  const char* group = kSearchGroup;
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(app, group, name, value, help);
  };
  add("--trials", trials_,
      "new candidates to measure per workload, those of a run that was cut off included (no limit)");
  add("--time", time_,
      "wall time per workload, of a model for all of it, finals included: 500ms, 60s, 2m (60s where no "
      "--trials is given, 10s per workload of a model); of each run: what a run that was cut off has spent "
      "does not count");
  add("--patience", patience_,
      "stop after so many trials without a gain, when the model expects none; 0: never (256)");
  add("--strategy,--preset", strategy_,
      "anneal | random | genetic | grid | autotvm (anneal); autotvm: AutoTVM's settings");
  add("--seed", seed_, "same seed and same log: same picks (0)");
  add("--transfer", transfer_,
      "auto | off | FILE: hints from other tasks of the log, or of another log (auto)");
  switch_flag(app, group, "--fresh", fresh_, "do not reuse earlier rows of the log");

  switch_flag(app, group, "--no-winograd", no_winograd_,
              "without the families that do fewer products than a convolution's sum has, and round more");

  group = kMeasuringGroup;
  measure_.add(app);
  add("--jobs", jobs_, "kernels compiled at once (one per CPU; one less with a GPU)");
  add("--overlap", overlap_,
      "auto | on | off: compile while others are timed (auto: with a GPU, and where --threads and --jobs "
      "leave a CPU free)");
  add("--baseline", baseline_, baseline_help().c_str());
  switch_flag(app, group, "--no-baseline", no_baseline_, "compare with nothing but the default");
  switch_flag(app, group, "--cold", cold_,
              "sweep the caches before each timed call (else a CPU's are warm, a GPU's inputs in DRAM)");
  switch_flag(app, group, "--warm", warm_,
              "of a model: warm caches, not swept before each call as they are else");
  switch_flag(app, group, "--deterministic-check", deterministic_check_,
              "run the winner twice on the same input and compare the bits; exit code 4 if they differ");

  group = kOutputGroup;
  add("--db", database_, "the trial log; earlier rows are reused (./lehr.db, or LEHR_DB)");
  switch_flag(app, group, "--json", json_,
              "one JSON document on stdout; an array where there are several workloads");
  switch_flag(app, group, "--quiet", quiet_, "no progress on stderr");
  app.footer(examples(
      {{"problem", "lehr tune gemm --m 1,16,64 --n 4096 --k 1024:4096:1024 --epilogue bias+relu"},
       {"", "lehr tune conv2d --h 56 --w 56 --c 64 --k 64 --r 3 --pad 1"},
       {"", "lehr tune --problems FILE"},
       {"", "lehr tune --model resnet18.onnx --dim batch=1 --time 5m"},
       {"search", "lehr tune gemm --m 512 --n 512 --k 512 --trials 200 --seed 7"},
       {"measuring", "lehr tune gemm --m 512 --n 512 --k 512 --time 30s --device cpu --threads 1 --cold"},
       {"output", "lehr tune gemm --m 512 --n 512 --k 512 --time 30s --db llama.db --json"}},
      "Ctrl-C ends a run with exit code 130; everything measured so far is in the log, and the next "
      "run goes on from there."));
}

SessionOptions TuneCommand::session_options() const {
  SessionOptions options;
  if (!trials_.empty())
    options.stop.trials = static_cast<int>(parse_number("--trials", trials_, 1, kMostTrials));
  if (!time_.empty()) options.stop.time_s = parse_duration("--time", time_);
  if (trials_.empty() && time_.empty()) options.stop.time_s = 60;
  options.stop.cut_searches = !time_.empty();
  options.stop.plateau_trials =
      patience_.empty() ? 256 : static_cast<int>(parse_number("--patience", patience_, 0, kMostTrials));
  options.strategy = parse_choice("--strategy", strategy_, strategy_names());
  options.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
  options.threads = static_cast<int>(allowed_cpus().size());
  options.reuse = !fresh_;
  options.check_determinism = deterministic_check_;
  options.transfer = transfer_ != "off";
  options.tool_version = kToolVersion;
  return options;
}

OpenDevice TuneCommand::setup_for(const Workload& workload) const {
  DeviceChoice choice = measure_.choice();
  if (cold_ && warm_) throw_user("--cold and --warm exclude each other");
  choice.cold = cold_;
  // In a model each layer's weights evict the other layers'.
  choice.cold_on_host = model_.given() && !warm_;
  if (parse_choice("--overlap", overlap_, {"auto", "on", "off"}) != "auto") choice.overlap = overlap_ == "on";
  if (no_baseline_ && !baseline_.empty())
    throw_user("--no-baseline and --baseline {} exclude each other", baseline_);
  OpenDevice setup =
      open_device(choice, workload, {environment_, own_executable(), jobs_.empty() ? 0 : parse_jobs(jobs_)});
  if (!setup.note.empty() && !quiet_) tell("note: {}", setup.note);
  return setup;
}

void TuneCommand::print_all(const std::vector<Summary>& summaries, bool one_workload) const {
  if (json_) {
    nlohmann::json documents = nlohmann::json::array();
    for (const Summary& summary : summaries) {
      nlohmann::json document = to_json(summary);
      document["database"] = database_;
      documents.push_back(std::move(document));
    }
    fmt::print("{}\n", (one_workload && !documents.empty() ? documents[0] : documents).dump(2));
  } else if (summaries.size() > 1) {
    fmt::print("\n{}", overview_text(summaries));
  }
}

struct TuneCommand::TuneServices {
  TuneServices(const std::string& path, const std::string& transfer, ProgressStyle style)
      : other(transfer == "auto" || transfer == "off" ? std::nullopt
                                                      : std::optional(Database::open_read_only(transfer))),
        database(Database::open(path)),
        progress(style) {
    if (!database.note().empty()) tell("note: {}", database.note());
    parts.database = &database;
    parts.transfer_from = other ? &*other : nullptr;
    parts.interrupted = &watch_signals();
    parts.on_event = [this](const Event& event) { progress.show(event); };
  }
  TuneServices(const TuneServices&) = delete;

  std::optional<Database> other;  ///< opened first: where it is missing nothing is made
  Database database;
  ProgressPrinter progress;
  SessionParts parts;
  SessionOptions options;
};

int TuneCommand::tune_workloads(std::vector<Workload> workloads, const OpenDevice& setup,
                                TuneServices& services) {
  const std::atomic<bool>& interrupted = *services.parts.interrupted;
  std::vector<Summary> summaries;
  for (const Workload& workload : workloads) {
    if (interrupted) break;
    services.options.session_id = new_session_id();
    TaskRun run({workload, setup.device, !no_winograd_}, services.options, services.parts);
    summaries.push_back(run.run());
    services.options.before_s = 0;
    services.progress.finish();
    if (!json_) fmt::print("{}", report_text(summaries.back(), setup.device, database_));
    std::fflush(stdout);
  }
  print_all(summaries, workloads.size() == 1);
  return interrupted ? kInterruptedCode : code_of(summaries);
}

double TuneCommand::model_time_s(std::size_t tasks) const {
  constexpr double kSecondsEach = 10;
  return time_.empty() ? kSecondsEach * static_cast<double>(tasks) : parse_duration("--time", time_);
}

int TuneCommand::tune_model(const Network& network, const OpenDevice& setup, TuneServices& services) {
  std::vector<SharedTask> tasks;
  for (const PlacedWorkload& placed : network.places.workloads)
    if (!why_not_served(placed.workload, setup.device.limits, [&](const std::string& reason) {
          if (!quiet_) tell("note: left out: {}", reason);
        }))
      tasks.push_back({placed.workload, static_cast<double>(placed.places.size())});
  if (tasks.empty()) throw_user("nothing of {} can be tuned; `lehr model` says why", model_.file());
  if (!fresh_) recall(tasks, setup.device, !no_winograd_, services.database);
  if (!quiet_) tell("{}", knowledge_text(tasks));
  SharedOptions shared;
  shared.session = services.options;
  shared.session.session_id = new_session_id();
  shared.time_s = model_time_s(tasks.size());
  shared.saving_products = !no_winograd_;
  const std::vector<SharedResult> results = tune_tasks(tasks, setup.device, shared, services.parts);
  services.progress.finish();
  if (json_)
    print_json(document_of(model_.file(), results, database_));
  else
    fmt::print("{}", report_text(model_.as_flags(), results, setup.device, database_));
  if (*services.parts.interrupted) return kInterruptedCode;
  std::vector<Summary> summaries;
  for (const SharedResult& each : results)
    if (each.summary) summaries.push_back(*each.summary);
  if (!all_proven(summaries)) return kCheckFailedCode;
  const bool any = std::ranges::any_of(results, [](const SharedResult& each) { return each.best_us > 0; });
  if (!any) tell("lehr: no candidate of any workload ran");
  if (!any) return kNothingFoundCode;
  return all_deterministic(summaries) ? 0 : kCheckFailedCode;
}

int TuneCommand::run() {
  const auto begun = std::chrono::steady_clock::now();
  if (model_.given() && (problem_.chosen() || problem_.from_file()))
    throw_user("--model and other problems exclude each other");
  if (!model_.given() && (model_.has_sizes() || warm_))
    throw_user("--dim, --input and --warm are for a network: name it with --model");
  std::optional<Network> network;
  std::vector<Workload> workloads;
  if (model_.given()) {
    network = model_.read();
    for (const PlacedWorkload& placed : network->places.workloads) workloads.push_back(placed.workload);
    if (workloads.empty())
      throw_user("{} has no convolution and no product that could be tuned", model_.file());
  } else {
    workloads = problem_.workloads();
  }
  SessionOptions options = session_options();
  const OpenDevice setup = setup_for(workloads[0]);
  if (network) network->places = served_places(*network, setup.device.limits);
  if (!no_baseline_) options.baselines = chosen_baselines(setup.device.limits.target, baseline_);
  if (!network)
    workloads = problem_.served_by(setup.device, std::move(workloads), [&](const std::string& reason) {
      if (!quiet_) tell("note: left out: {}", reason);
    });
  TuneServices services(database_, transfer_,
                        quiet_                  ? ProgressStyle::kQuiet
                        : isatty(STDERR_FILENO) ? ProgressStyle::kTerminal
                                                : ProgressStyle::kPlain);
  services.parts.measurer = setup.measurer.get();
  services.parts.prober = prober_of(setup.device.limits);
  services.parts.bound = bound_of(setup.device.limits);
  options.before_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  services.options = std::move(options);
  return network ? tune_model(*network, setup, services)
                 : tune_workloads(std::move(workloads), setup, services);
}

}  // namespace lehr
