// Runs one contest of the schedules that the user names.
#include "cli/bench_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/device_flags.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "deploy/library_answers.h"
#include "measure/core/format.h"
#include "measure/core/ratio.h"
#include "measure/worker/baselines.h"
#include "tune/row_choice.h"
#include "tune/summary.h"
#include "tune/time_in_turn.h"
#include "workload/short_text.h"

namespace lehr {
namespace {

using nlohmann::json;

std::string table_of(const std::vector<ContestEntry>& entries, double flops) {
  std::vector<std::vector<std::string>> rows;
  for (const ContestEntry& entry : entries) {
    if (!entry.missing.empty()) {
      rows.push_back({"-", "-", "-", entry.name, std::string(first_line(entry.missing))});
      continue;
    }
    const Ratio ratio = speedup_over(entry, entries[0]);
    rows.push_back({format_time_us(time_of(entry)), fmt::format("{:.1f}", gflops_of(flops, entry.time_us)),
                    ratio.value > 0 ? fmt::format("{:.3f}x ({:.3f} to {:.3f})", ratio.value,
                                                  ratio.interval.low, ratio.interval.high)
                                    : "-",
                    entry.name, entry.note});
  }
  return format_table({"time", "GFLOP/s", "vs the first", "<what", "<note"}, rows);
}

std::string sentence_of(const LibraryAnswer& answer) {
  const std::string tuned_for =
      answer.threads == 0 ? answer.arch
                          : fmt::format("{} thread{}", answer.threads, answer.threads == 1 ? "" : "s");
  return fmt::format("{}, {}, {} expected on {}", answer.function, answer.kind,
                     format_time_us(answer.time_us), tuned_for);
}

json json_of(const LibraryAnswer& answer) {
  json document = {{"function", answer.function}, {"workload", answer.workload}, {"target", answer.target}};
  if (!answer.missing.empty()) {
    document["missing"] = answer.missing;
    return document;
  }
  document.update({{"kernel", answer.kernel},
                   {"arch", answer.arch},
                   {"answer", answer.kind},
                   {"threads", answer.threads},
                   {"time_us", answer.time_us},
                   {"cold", answer.cold}});
  return document;
}

std::string table_of(const std::vector<LibraryAnswer>& answers) {
  std::vector<std::vector<std::string>> rows;
  for (const LibraryAnswer& each : answers)
    if (each.missing.empty())
      rows.push_back({format_time_us(each.time_us), std::to_string(each.threads), each.cold ? "cold" : "warm",
                      each.target, each.arch, short_text(each.workload), ""});
    else
      rows.push_back({"-", "-", "-", each.target, "-", short_text(each.workload), each.missing});
  return format_table({"expected", "threads", "<caches", "<target", "<arch", "<workload", "<note"}, rows);
}

}  // namespace

BenchCommand::BenchCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command = root.add_subcommand(
      "bench", "Time named configs of one workload beside each other and the vendor libraries");
  problem_.add_to(*command, "Time configs of a {} in turn");
  for (CLI::App* app : problem_.operators()) add_flags(*app);
  add_flags(*command);
  command->get_option("--bundle")
      ->description(
          "a folder of `lehr export --out`: its functions are listed; with a workload what it answers takes "
          "part, checked and timed as a product gets it (none)");
}

void BenchCommand::add_flags(CLI::App& app) {
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(app, kMeasuringGroup, name, value, help);
  };
  app.add_option("--config", configs_,
                 "a config as `lehr best` prints it; may be given several times (the default of each family)")
      ->group(kSearchGroup)
      ->option_text(" ")
      ->take_all();
  add("--bundle", bundle_,
      "a folder of `lehr export --out`: what it answers takes part, checked and timed as a product gets it "
      "(none)");
  add_run_flags(device_, app);
  add("--time", time_, "of the contest: 500ms, 5s, 1m (5s)");
  add("--baseline", baseline_, baseline_help().c_str());
  switch_flag(app, kMeasuringGroup, "--no-baseline", no_baseline_, "compare with no vendor library");
  switch_flag(app, kOutputGroup, "--json", json_, "one JSON document on stdout");
  app.footer(
      examples({{"problem", "lehr bench gemm --m 512 --n 512 --k 512"},
                {"", "lehr bench \"gemm m=512 n=512 k=512\""},
                {"search", "lehr bench gemm --m 512 --n 512 --k 512 --config \"CONFIG\" --config \"CONFIG\""},
                {"bundle", "lehr bench gemm --m 512 --n 512 --k 512 --bundle product/kernels"},
                {"measuring", "lehr bench conv2d --h 56 --w 56 --c 64 --k 64 --r 3 --device cpu --time 20s"},
                {"output", "lehr bench gemm --m 512 --n 512 --k 512 --json"}},
               "All are timed round by round; the ratios are medians over the rounds that count, with their "
               "95 % intervals: on CUDA all, on the CPU those that were calm for both. Exit code 4: a kernel "
               "gave a wrong result or did not run."));
}

std::vector<Point> BenchCommand::points(const Candidates& candidates) const {
  if (configs_.empty()) return candidates.defaults;
  std::vector<Point> result;
  for (const std::string& text : configs_) {
    const Config config = parse_config(text);
    if (const auto why = candidates.space.why_invalid(config))
      throw_user("--config '{}' is no schedule of this workload here: {}", text, *why);
    result.push_back(candidates.space.point_of(config));
  }
  return result;
}

int BenchCommand::list_bundle() const {
  const std::vector<LibraryAnswer> answers = library_answers(bundle_);
  if (json_) {
    json functions = json::array();
    for (const LibraryAnswer& each : answers) functions.push_back(json_of(each));
    print_json({{"bundle", bundle_}, {"functions", std::move(functions)}});
  } else {
    fmt::print("{}", table_of(answers));
  }
  return 0;
}

DeviceChoice BenchCommand::device_choice() const {
  DeviceChoice choice = choice_of(device_.read<api::DeviceOptions>());
  if (bundle_.empty()) return choice;
  if (choice.automatic) choice.target = Target();  // the processor
  choice.automatic = false;
  choice.bundle = std::filesystem::absolute(bundle_).string();
  return choice;
}

std::vector<std::string> BenchCommand::baselines(Target target) const {
  if (no_baseline_ && !baseline_.empty())
    throw_user("--no-baseline and --baseline {} exclude each other", baseline_);
  std::vector<std::string> names;
  if (!no_baseline_) names = chosen_baselines(target, baseline_);
  if (!bundle_.empty()) names.insert(names.begin(), std::string(bundle_baseline(target)));
  return names;
}

bool BenchCommand::contest(const Workload& workload, const OpenDevice& setup, json& document) const {
  std::optional<LibraryAnswer> answer;
  if (!bundle_.empty())
    answer = library_answer(bundle_, workload, setup.device.limits, device_choice().ordinal);
  const Task task = task_of(workload, setup.device);
  const Candidates candidates = candidates_for(task);
  const std::vector<Point> chosen = points(candidates);
  const std::vector<ContestEntry> sides =
      time_in_turn(task, candidates, chosen, baselines(setup.device.limits.target),
                   parse_duration("--time", time_), *setup.measurer);
  document = {{"workload", to_text(workload)},
              {"device", setup.device.name},
              {"identity", identity_of(setup.device)},
              {"entries", to_json(sides)}};
  if (answer) document["bundle"] = json_of(*answer);
  if (!json_)
    fmt::print("workload  {}\ndevice    {}\n{}\n{}", to_text(workload), setup.device.name,
               answer ? fmt::format("bundle    {}\n", sentence_of(*answer)) : "",
               table_of(sides, flops_of(workload)));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (sides[i].missing.empty()) continue;
    tell("lehr: {}: {}", sides[i].name, first_line(sides[i].missing));
    return false;
  }
  return true;
}

std::vector<Workload> BenchCommand::calls() const {
  const Workload workload = problem_.workload();
  const CallRows range = call_rows(workload);
  if (range.least == 0) return {workload};
  if (bundle_.empty())
    throw_user("of a range of rows a bundle's kernels are timed: name its folder with --bundle, or one size");
  std::vector<Workload> calls;
  for (const std::int64_t rows : measured_sizes(range.least, range.most))
    calls.push_back(with_rows(workload, rows));
  return calls;
}

int BenchCommand::run() {
  if (!bundle_.empty() && !problem_.chosen()) return list_bundle();
  const std::vector<Workload> workloads = calls();
  const DeviceChoice choice = device_choice();
  parse_duration("--time", time_);
  const OpenDevice setup = open_device(choice, workloads.back(), {environment_});
  if (!setup.note.empty()) tell("note: {}", setup.note);
  baselines(setup.device.limits.target);
  json documents = json::array();
  bool right = true;
  for (const Workload& workload : workloads) {
    if (!json_ && !documents.empty()) fmt::print("\n");
    right = contest(workload, setup, documents.emplace_back()) && right;
  }
  if (json_ && is_range(problem_.workload()))
    print_json({{"workload", to_text(problem_.workload())}, {"sizes", std::move(documents)}});
  else if (json_)
    print_json(documents[0]);
  return right ? 0 : kCheckFailedCode;
}

}  // namespace lehr
