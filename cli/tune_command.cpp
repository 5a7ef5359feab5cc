// Flags -> options, results -> stdout.
#include "cli/tune_command.h"

#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/device_names.h"
#include "api/sessions.h"
#include "api/untuned.h"
#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "search/make_strategy.h"
#include "tune/task.h"

namespace lehr {
namespace {

constexpr std::int64_t kMostTrials = 10'000'000;
constexpr std::int64_t kMostKernels = 64;

}  // namespace

TuneCommand::TuneCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command = root.add_subcommand("tune", "Find the fastest kernel of a workload on this machine");
  problem_.add_to(*command, "Tune a {}, or every combination of the sizes given");
  problem_.add_file();
  model_.add_to(*command, "--model");
  value_flag(*command, "Problem", "--precision", precision_, kPrecisionHelp);
  for (CLI::App* app : problem_.operators()) add_flags(*app);
  add_flags(*command);
}

void TuneCommand::add_flags(CLI::App& app) {
  const char* group = kSearchGroup;
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(app, group, name, value, help);
  };
  add("--trials", trials_,
      "new candidates to measure per workload, those of a run that was cut off included (no limit); 0: "
      "nothing "
      "is measured or stored, and the config that the log or an estimate would take is printed");
  add("--time", time_,
      "wall time per workload, of a model or a range of rows for all of it, finals included: 500ms, 60s, 2m "
      "(60s where no --trials is given, 10s per workload of a model and per size that a range is searched "
      "at); "
      "of each run: what a run that was cut off has spent does not count");
  add("--patience", patience_,
      "stop after so many trials without a gain, when the model expects none; 0: never (256)");
  add("--strategy,--preset", strategy_,
      "anneal | random | genetic | autotvm (anneal); autotvm: AutoTVM's settings");
  add("--seed", seed_, "same seed and same log: same picks (0)");
  add("--transfer", transfer_,
      "auto | off | FILE: hints from other tasks of the log, or of another log (auto)");
  switch_flag(app, group, "--fresh", fresh_, "do not reuse earlier rows of the log");
  add("--kernels", kernels_, "of a range of rows, --m 1..2048: so many kernels cover it, at most (6)");

  switch_flag(app, group, "--no-winograd", no_winograd_,
              "without the families that do fewer products than a convolution's sum has, and round more");

  group = kMeasuringGroup;
  measure_.add(app);
  add("--jobs", jobs_, "kernels compiled at once (one per CPU, 16 at most; one less with a GPU)");
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
  add("--progress", progress_, kProgressHelp);
  switch_flag(app, group, "--quiet", quiet_, "no progress on stderr: --progress none");
  app.footer(examples(
      {{"problem", "lehr tune gemm --m 1,16,64 --n 4096 --k 1024:4096:1024 --epilogue bias+relu"},
       {"", "lehr tune gemm --m 1..2048 --n 1024 --k 1024 --b f32:row:constant --time 10m"},
       {"", "lehr tune conv2d --h 56 --w 56 --c 64 --k 64 --r 3 --pad 1"},
       {"", "lehr tune --problems FILE"},
       {"", "lehr tune --model resnet18.onnx --dim batch=1 --time 5m"},
       {"search", "lehr tune gemm --m 512 --n 512 --k 512 --trials 200 --seed 7"},
       {"measuring", "lehr tune gemm --m 512 --n 512 --k 512 --time 30s --device cpu --threads 1 --cold"},
       {"output", "lehr tune gemm --m 512 --n 512 --k 512 --time 30s --db llama.db --json"}},
      "Ctrl-C ends a run with exit code 130; everything measured so far is in the log, and the next "
      "run goes on from there."));
}

api::DeviceOptions TuneCommand::device_options(const std::string& workload) const {
  if (cold_ && warm_) throw_user("--cold and --warm exclude each other");
  api::DeviceOptions options = measure_.options(environment_);
  options.workload = workload;
  options.cold = cold_;
  // In a model each layer's weights evict the other layers'.
  options.cold_cpu = model_.given() && !warm_;
  if (!jobs_.empty()) options.jobs = parse_jobs(jobs_);
  if (parse_choice("--overlap", overlap_, {"auto", "on", "off"}) != "auto")
    options.overlap = overlap_ == "on";
  options.stop = &watch_signals();
  return options;
}

api::TuneOptions TuneCommand::tune_options(ProgressPrinter& progress) const {
  api::TuneOptions options;
  if (!trials_.empty()) options.trials = static_cast<int>(parse_number("--trials", trials_, 0, kMostTrials));
  if (!time_.empty()) options.time_s = parse_duration("--time", time_);
  if (!patience_.empty())
    options.patience = static_cast<int>(parse_number("--patience", patience_, 0, kMostTrials));
  options.strategy = parse_strategy(strategy_);
  options.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
  options.fresh = fresh_;
  options.transfer = transfer_;
  if (no_baseline_ && !baseline_.empty())
    throw_user("--no-baseline and --baseline {} exclude each other", baseline_);
  options.baselines = no_baseline_ ? "none" : baseline_;
  options.winograd = !no_winograd_;
  if (!precision_.empty()) options.precision = precision_;
  options.deterministic_check = deterministic_check_;
  if (!kernels_.empty())
    options.kernels = static_cast<int>(parse_number("--kernels", kernels_, 1, kMostKernels));
  options.on_progress = [&](const api::Progress& each) { progress.show(each); };
  options.on_result = [&](const api::Result& result) {
    progress.finish();
    if (!json_) fmt::print("{}", result.text);
    std::fflush(stdout);
    if (!result.failure.empty() && result.code != api::Code::kInterrupted) tell("lehr: {}", result.failure);
  };
  return options;
}

std::vector<std::string> TuneCommand::workloads_on(const api::Device& device,
                                                   const std::vector<Workload>& workloads) const {
  std::vector<std::string> texts;
  for (const Workload& workload : workloads) {
    texts.push_back(to_text(workload));
    if (problem_.from_file()) continue;  // what cannot be tuned is left out
    if (const std::string why = device.why_not_served(texts.back()); !why.empty()) throw_user("{}", why);
  }
  return texts;
}

/// A range is served by several kernels, and timed beside no library.
void TuneCommand::check_ranges(const std::vector<Workload>& workloads) const {
  const auto range = std::ranges::find_if(workloads, [](const Workload& each) { return is_range(each); });
  if (range == workloads.end()) {
    if (!kernels_.empty()) throw_user("--kernels {} is for a range of rows, as --m 1..2048", kernels_);
    return;
  }
  if (deterministic_check_)
    throw_user("--deterministic-check is of one kernel; '{}' is served by several", to_text(*range));
  if (!baseline_.empty())
    throw_user(
        "--baseline {} is for one size: '{}' is compared with no library, each of its sizes is, as --m {}",
        baseline_, to_text(*range), range->gemm().m);
}

int TuneCommand::tune_workloads() {
  const std::vector<Workload> workloads = problem_.workloads();
  check_ranges(workloads);
  ProgressPrinter progress(progress_style(progress_, quiet_));
  const api::TuneOptions options = tune_options(progress);
  api::Device device(device_options(to_text(workloads[0])));
  const std::vector<std::string> texts = workloads_on(device, workloads);
  api::Log log(database_);
  const api::Results results = api::tune(texts, device, log, options);
  if (json_)
    fmt::print("{}\n", texts.size() == 1 && !results.each.empty() ? results.each[0].json : results.json);
  else if (results.each.size() > 1)
    fmt::print("\n{}", results.text);
  return static_cast<int>(results.code);
}

Workload TuneCommand::first_workload() const {
  api::Reporter silent({});  // api::tune() tells what there is to tell
  const Network network = api::read_network(model_.model(), silent);
  api::check_tunable(model_.model(), network);
  return network.places.workloads[0].workload;
}

int TuneCommand::tune_model() {
  const api::Model model = model_.model();
  check_ranges({});
  const Workload first = first_workload();
  ProgressPrinter progress(progress_style(progress_, quiet_));
  const api::TuneOptions options = tune_options(progress);
  api::Device device(device_options(to_text(first)));
  api::Log log(database_);
  const api::ModelResult result = api::tune(model, device, log, options);
  progress.finish();
  fmt::print("{}", json_ ? result.json + "\n" : result.text);
  if (!result.failure.empty() && result.code != api::Code::kInterrupted) tell("lehr: {}", result.failure);
  return static_cast<int>(result.code);
}

/// Workloads of a file that nothing serves are left out.
int TuneCommand::tell_untuned() {
  if (model_.given()) throw_user("--trials 0 is for workloads; of a network, lehr model lists them");
  for (const auto& [flag, is_given] :
       {std::pair("--time", !time_.empty()), std::pair("--patience", !patience_.empty()),
        std::pair("--baseline", !baseline_.empty()),
        std::pair("--deterministic-check", deterministic_check_)})
    if (is_given) throw_user("--trials 0 runs nothing: leave out {}", flag);
  const std::vector<Workload> workloads = problem_.workloads();
  check_ranges(workloads);
  ProgressPrinter progress(ProgressStyle::kQuiet);
  const api::TuneOptions options = tune_options(progress);
  nlohmann::json documents = nlohmann::json::array();
  std::string last;
  for (const Workload& workload : workloads) {
    try {
      const std::string text = to_text(workload);
      const api::Untuned found = api::untuned(text, device_options(text), database_, options);
      if (!found.note.empty() && documents.empty()) tell("lehr: {}", found.note);
      if (!json_) fmt::print("{}{}", documents.empty() ? "" : "\n", found.text);
      documents.push_back(nlohmann::json::parse(found.json));
    } catch (const api::Error& error) {
      if (!problem_.from_file() || error.code() != api::Code::kNothingFound) throw;
      last = error.as_command();
      tell("lehr: left out: {}", last);
    }
  }
  if (documents.empty())
    throw_not_found("none of the workloads can be tuned here; the last reason: {}", last);
  if (json_) print_json(documents.size() == 1 ? documents[0] : documents);
  return 0;
}

int TuneCommand::run() {
  if (model_.given() && (problem_.chosen() || problem_.from_file()))
    throw_user("--model and other problems exclude each other");
  if (!model_.given() && (model_.has_sizes() || warm_ || !precision_.empty()))
    throw_user("--dim, --input, --precision and --warm are for a network: name it with --model");
  if (!trials_.empty() && parse_number("--trials", trials_, 0, kMostTrials) == 0) return tell_untuned();
  return model_.given() ? tune_model() : tune_workloads();
}

}  // namespace lehr
