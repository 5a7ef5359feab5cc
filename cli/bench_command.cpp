// One contest of the schedules that the user names.
#include "cli/bench_command.h"

#include <CLI/CLI.hpp>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/rig.h"
#include "cli/table.h"
#include "codegen/emit.h"
#include "measure/core/ratio.h"
#include "tune/session.h"

namespace lehr {
namespace {

using nlohmann::json;

/// One side of the contest, ours or a library.
struct Side {
  std::string name;    ///< a config, or the library's
  ContestEntry entry;  ///< not timed where `missing` says why
};

/// Checks each source against the reference and times those that are right, all of them to the end, with
/// `rival` and the libraries, in turn.
std::vector<Side> contest(Measurer& measurer, const std::vector<Config>& configs,
                          const std::vector<Source>& sources, const std::optional<Rival>& rival,
                          const std::vector<std::string>& baselines, double seconds) {
  std::vector<Side> sides;
  for (const Config& config : configs) sides.push_back({to_text(config), {}});
  std::vector<Source> first;
  std::vector<Rival> others;       // unlike contenders, they never drop out
  std::vector<std::size_t> place;  // of each right one among the sides
  const std::vector<Outcome> outcomes = measurer.measure(sources, {});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (const auto* failure = std::get_if<Failure>(&outcomes[i])) {
      sides[i].entry.missing = fmt::format("{}: {}", name_of(failure->kind), failure->text);
      continue;
    }
    if (first.empty())
      first.push_back(sources[i]);
    else
      others.push_back({sides[i].name, "", sources[i]});
    place.push_back(i);
  }
  if (first.empty()) return sides;
  if (rival) others.push_back(*rival);
  std::vector<ContestEntry> entries = measurer.contest(first, others, baselines, seconds);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i < place.size())
      sides[place[i]].entry = std::move(entries[i]);
    else
      sides.push_back({entries[i].name, std::move(entries[i])});
  }
  return sides;
}

std::string table_of(const std::vector<Side>& sides, double flops) {
  std::vector<std::vector<std::string>> rows;
  for (const Side& side : sides) {
    const ContestEntry& entry = side.entry;
    if (!entry.missing.empty()) {
      rows.push_back({"-", "-", "-", side.name, std::string(first_line(entry.missing))});
      continue;
    }
    const Ratio ratio = speedup_over(entry, sides[0].entry);
    rows.push_back({format_time_us(time_of(entry)),
                    fmt::format("{:.1f}", flops / entry.time_us / 1e3),
                    ratio.value > 0 ? fmt::format("{:.3f}x ({:.3f} to {:.3f})", ratio.value,
                                                  ratio.interval.low, ratio.interval.high)
                                    : "-",
                    side.name, entry.note});
  }
  return format_table({"time", "GFLOP/s", "vs the first", "<what", "<note"}, rows);
}

json json_of(const std::vector<Side>& sides) {
  json entries = json::array();
  for (const Side& side : sides) {
    const ContestEntry& entry = side.entry;
    const bool timed = entry.missing.empty();
    const Ratio ratio = timed ? speedup_over(entry, sides[0].entry) : Ratio{};
    const Interval time = time_of(entry).interval;
    entries.push_back({{"what", side.name},
                       {"missing", known_or_null(entry.missing)},
                       {"note", entry.note},
                       {"time_us", timed ? json(entry.time_us) : json(nullptr)},
                       {"time_us_interval", {time.low, time.high}},
                       {"rounds_us", entry.round_us},
                       {"speedup", known_or_null(ratio.value)},
                       {"speedup_interval", {ratio.interval.low, ratio.interval.high}}});
  }
  return entries;
}

}  // namespace

BenchCommand::BenchCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  app_ = root.add_subcommand("bench",
                             "Time named configs of one workload beside each other and the vendor libraries");
  problem_.add_to(*app_, "Time configs of a {} in turn");
  for (CLI::App* app : problem_.operators()) {
    const auto add = [&](const char* name, std::string& value, const char* help) {
      value_flag(*app, kMeasuringGroup, name, value, help);
    };
    app->add_option(
           "--config", configs_,
           "a config as `lehr best` prints it; may be given several times (the default of each family)")
        ->group(kSearchGroup)
        ->option_text(" ")
        ->take_all();
    add("--device", device_, "auto | cpu | cuda:N (auto: the GPU where there is one)");
    add("--threads", threads_, "CPU threads that a kernel may use (all that are allowed)");
    add("--time", time_, "of the contest: 500ms, 5s, 1m (5s)");
    add("--baseline", baseline_, baseline_help().c_str());
    switch_flag(*app, kMeasuringGroup, "--no-baseline", no_baseline_, "compare with no vendor library");
    switch_flag(*app, kOutputGroup, "--json", json_, "one JSON document on stdout");
    app->footer(examples(
        {{"problem", "lehr bench gemm --m 512 --n 512 --k 512"},
         {"search", "lehr bench gemm --m 512 --n 512 --k 512 --config \"CONFIG\" --config \"CONFIG\""},
         {"measuring", "lehr bench conv2d --h 56 --w 56 --c 64 --k 64 --r 3 --device cpu --time 20s"},
         {"output", "lehr bench gemm --m 512 --n 512 --k 512 --json"}},
        "All are timed round by round; the ratios are medians over the rounds that count, with their 95 % "
        "intervals: on CUDA all, on the CPU those that were calm for both. Exit code 4: a kernel gave a "
        "wrong "
        "result or did not run."));
  }
}

bool BenchCommand::chosen() const {
  return app_->parsed();
}

std::vector<Config> BenchCommand::configs(const Candidates& candidates) const {
  if (configs_.empty()) return candidates.defaults;
  std::vector<Config> result;
  for (const std::string& text : configs_) {
    result.push_back(parse_config(text));
    if (const auto why = candidates.space.why_invalid(result.back()))
      throw_user("--config '{}' is no schedule of this workload here: {}", text, *why);
  }
  return result;
}

int BenchCommand::run() {
  const Workload workload = problem_.workload();
  const DeviceChoice choice = parse_device(device_, threads_);
  const double seconds = parse_duration("--time", time_);
  if (no_baseline_ && !baseline_.empty())
    throw_user("--no-baseline and --baseline {} exclude each other", baseline_);
  const Rig rig = make_rig(choice, workload, environment_, 0);
  if (!rig.note.empty()) fmt::print(stderr, "note: {}\n", rig.note);
  std::vector<std::string> baselines;
  if (!no_baseline_)
    baselines = chosen_baselines(rig.device.limits.target, baseline_);
  const Candidates candidates = candidates_for({workload, rig.device});
  const std::vector<Config> chosen = configs(candidates);
  std::vector<Source> sources;
  for (const Config& config : chosen)
    sources.push_back(emit(candidates.lower(candidates.space.point_of(config))));
  std::optional<Rival> rival;
  if (std::erase(baselines, kUnfused) > 0 && candidates.unfused)
    rival = {std::string(kUnfused), to_text(chosen[0]) + ", then a pass", candidates.unfused(chosen[0])};

  rig.measurer->prepare(problem_for(workload, 0));
  const std::vector<Side> sides = contest(*rig.measurer, chosen, sources, rival, baselines, seconds);
  if (json_)
    fmt::print("{}\n", json{{"workload", to_text(workload)},
                            {"device", rig.device.name},
                            {"identity", identity_of(rig.device)},
                            {"entries", json_of(sides)}}
                           .dump(2, ' ', false, json::error_handler_t::replace));
  else
    fmt::print("workload  {}\ndevice    {}\n\n{}", to_text(workload), rig.device.name,
               table_of(sides, flops_of(workload)));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (sides[i].entry.missing.empty()) continue;
    fmt::print(stderr, "lehr: {}: {}\n", sides[i].name, first_line(sides[i].entry.missing));
    return kCheckFailedCode;
  }
  return 0;
}

}  // namespace lehr
