// Turns flags into options, and prints results on stdout.
#include "cli/tune_command.h"

#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/device_names.h"
#include "api/sessions.h"
#include "api/shards.h"
#include "api/untuned.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "cli/cluster_report.h"
#include "cli/device_flags.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"

namespace lehr {
TuneCommand::TuneCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command = root.add_subcommand("tune", "Find the fastest kernel of a workload on this machine");
  problem_.add_to(*command, "Tune a {}, or every combination of the sizes given");
  problem_.add_file();
  model_.add_to(*command, "--model");
  options_.add<api::TuneOptions>(*command, {"precision"});
  for (CLI::App* app : problem_.operators()) add_flags(*app);
  add_flags(*command);
}

void TuneCommand::add_flags(CLI::App& app) {
  options_.add<api::TuneOptions>(
      app, {"trials", "time_s", "patience", "strategy", "seed", "transfer", "fresh", "kernels", "winograd",
            "baselines", "deterministic_check", "shard", "publish", "publish_every_s"});
  CLI::Option* const trials = app.get_option("--trials");
  trials->description(trials->get_description() +
                      "; 0: nothing is measured or stored, and the config that the log or an estimate would "
                      "take is printed");
  app.get_option("--baseline")->description(baseline_help());
  add_device_flags(options_, app);
  switch_flag(app, "Problem", "--dry-run", dry_run_, "print the shares of all shards, and do nothing");
  switch_flag(app, kMeasuringGroup, "--no-baseline", no_baseline_, "compare with nothing but the default");
  value_flag(app, kOutputGroup, "--db", database_,
             "the trial log; earlier rows are reused (./lehr.db, or LEHR_DB)");
  switch_flag(app, kOutputGroup, "--json", json_,
              "one JSON document on stdout; an array where there are several workloads");
  value_flag(app, kOutputGroup, "--progress", progress_, kProgressHelp);
  switch_flag(app, kOutputGroup, "--quiet", quiet_, "no progress on stderr: --progress none");
  app.footer(
      examples({{"problem", "lehr tune gemm --m 1,16,64 --n 4096 --k 1024:4096:1024 --epilogue bias+relu"},
                {"", "lehr tune gemm --m 1..2048 --n 1024 --k 1024 --b f32:row:constant --time 10m"},
                {"", "lehr tune conv2d --h 56 --w 56 --c 64 --k 64 --r 3 --pad 1"},
                {"", "lehr tune \"gemm m=512 n=512 k=512\""},
                {"", "lehr tune --problems FILE"},
                {"", "lehr tune --model resnet18.onnx --dim batch=1 --time 5m"},
                {"shards", "lehr tune --problems FILE --shard 0/8 --publish DIR"},
                {"search", "lehr tune gemm --m 512 --n 512 --k 512 --trials 200 --seed 7"},
                {"measuring",
                 "lehr tune gemm --m 512 --n 512 --k 512 --time 30s --device cpu --threads 1 --caches cold"},
                {"output", "lehr tune gemm --m 512 --n 512 --k 512 --time 30s --db llama.db --json"}},
               "Ctrl-C ends a run with exit code 130; everything measured so far is in the log, and the next "
               "run goes on from there."));
}

api::DeviceOptions TuneCommand::device_options(const Workload& workload) const {
  auto options = options_.read<api::DeviceOptions>();
  options.workload = to_text(workload);
  // In a network, the weights of each layer evict the weights of other layers from the caches.
  if (model_.given() && !options_.is_given("--caches")) options.caches = "memory";
  options.tools = environment_;
  options.stop = &watch_signals();
  return options;
}

api::TuneOptions TuneCommand::tune_options(ProgressPrinter& progress) const {
  auto options = options_.read<api::TuneOptions>();
  if (no_baseline_ && !options.baselines.empty())
    throw_user("--no-baseline and --baseline {} exclude each other", options.baselines);
  if (no_baseline_) options.baselines = "none";
  if (options.shard == "auto") options.shard = shard_of_array();
  options.on_progress = [&](const api::Progress& each) { progress.show(each); };
  options.on_result = [&](const api::Result& result) {
    progress.finish();
    if (!json_) fmt::print("{}", result.text);
    std::fflush(stdout);
    if (!result.failure.empty() && result.code != api::Code::kInterrupted) tell("lehr: {}", result.failure);
  };
  return options;
}

int TuneCommand::tune_workloads() {
  const std::vector<Workload> workloads = problem_.workloads();
  ProgressPrinter progress(progress_style(progress_, quiet_));
  const api::TuneOptions options = tune_options(progress);
  api::check_ranges(workloads, options);
  if (!options.shard.empty() && workloads.size() == 1 && !problem_.from_file())
    throw_user("--shard {} is of several workloads: '{}' is one", options.shard, to_text(workloads[0]));
  if (dry_run_) return tell_shares(workloads, options, false);
  api::Device device(device_options(workloads[0]));
  if (!problem_.from_file())  // a file's workloads that cannot be tuned are left out
    for (const Workload& workload : api::share_of(workloads, options))
      if (const std::string why = device.why_not_served(to_text(workload)); !why.empty())
        throw_user("{}", why);
  api::Log log(database_);
  const api::Results results = api::tune_workloads(workloads, device, log, options);
  progress.finish();
  // A failure that does not belong to a single workload.
  if (results.code == api::Code::kMissing) tell("lehr: {}", results.failure);
  if (json_)
    fmt::print("{}\n", workloads.size() == 1 && !results.each.empty() ? results.each[0].json : results.json);
  else if (results.each.size() > 1)
    fmt::print("\n{}", results.text);
  return static_cast<int>(results.code);
}

std::vector<Workload> TuneCommand::workloads_of_model() const {
  api::Reporter silent({});  // api::tune() reports everything
  const Network network = api::read_network(model_.model(), silent);
  api::check_tunable(model_.model(), network);
  return api::workloads_of(network.matches);
}

int TuneCommand::tell_shares(const std::vector<Workload>& workloads, const api::TuneOptions& options,
                             bool together) const {
  if (options.shard.empty()) throw_user("--dry-run prints the shares of --shard I/N: name a shard");
  const cluster::Plan plan = api::plan_of(workloads, options, together);
  if (json_)
    print_json(plan);
  else
    fmt::print("{}", plan_text(plan, cluster::parse_shard(options.shard).index, environment_.columns));
  return 0;
}

int TuneCommand::tune_model() {
  const api::NetworkFile model = model_.model();
  ProgressPrinter progress(progress_style(progress_, quiet_));
  const api::TuneOptions options = tune_options(progress);
  api::check_ranges({}, options);
  const std::vector<Workload> workloads = workloads_of_model();
  if (dry_run_) return tell_shares(workloads, options, true);
  api::Device device(device_options(workloads[0]));
  api::Log log(database_);
  const api::NetworkResult result = api::tune(model, device, log, options);
  progress.finish();
  fmt::print("{}", json_ ? result.json + "\n" : result.text);
  if (!result.failure.empty() && result.code != api::Code::kInterrupted) tell("lehr: {}", result.failure);
  return static_cast<int>(result.code);
}

/// Skips workloads of a file that no family serves.
int TuneCommand::tell_untuned() {
  if (model_.given()) throw_user("--trials 0 is for workloads; of a network, lehr model lists them");
  for (const char* flag :
       {"--time", "--patience", "--baseline", "--deterministic-check", "--shard", "--publish"})
    if (options_.is_given(flag)) throw_user("--trials 0 runs nothing: leave out {}", flag);
  const std::vector<Workload> workloads = problem_.workloads();
  ProgressPrinter progress(ProgressStyle::kQuiet);
  const api::TuneOptions options = tune_options(progress);
  api::check_ranges(workloads, options);
  nlohmann::json documents = nlohmann::json::array();
  std::string last;
  for (const Workload& workload : workloads) {
    try {
      nlohmann::json document;
      const api::Untuned found =
          api::untuned(workload, device_options(workload), database_, options, document);
      if (!found.note.empty() && documents.empty()) tell("lehr: {}", found.note);
      if (!json_) fmt::print("{}{}", documents.empty() ? "" : "\n", found.text);
      documents.push_back(std::move(document));
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
  if (!model_.given() && (model_.has_sizes() || options_.is_given("--precision")))
    throw_user("--dim, --input and --precision are for a network: name it with --model");
  if (options_.is_given("--trials") && options_.read<api::TuneOptions>().trials == 0) return tell_untuned();
  return model_.given() ? tune_model() : tune_workloads();
}

}  // namespace lehr
