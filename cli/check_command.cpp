// Checks every workload of the flags and counts.
#include "cli/check_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/args.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/device_flags.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"
#include "tune/spot_check.h"
#include "workload/short_text.h"

namespace lehr {

CheckCommand::CheckCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("check", "Run sampled kernels of every family against the reference");
  problem_.add_to(*command, "Check a {}, or every combination of the sizes given");
  problem_.add_file();
  for (CLI::App* app : problem_.operators()) add_flags(*app);
  add_flags(*command);
}

void CheckCommand::add_flags(CLI::App& app) {
  value_flag(app, kSearchGroup, "--samples", samples_,
             "configs per family and workload, its default among them (4)");
  value_flag(app, kSearchGroup, "--seed", seed_, "same seed: same configs and inputs (0)");
  add_run_flags(device_, app);
  switch_flag(app, kOutputGroup, "--json", json_, "one JSON document on stdout");
  app.footer(
      examples({{"problem", "lehr check gemm --m 1,35,257 --n 129 --k 67"},
                {"search", "lehr check gemm --m 35 --n 129 --k 67 --samples 20 --seed 3"},
                {"measuring", "lehr check conv2d --h 14 --w 14 --c 8 --k 8 --r 3 --device cpu --threads 1"},
                {"output", "lehr check gemm --m 35 --n 129 --k 67 --json"}},
               "Exit code 4: a kernel gave a wrong result or did not run. Ctrl-C prints what is known."));
}

int CheckCommand::run() {
  std::vector<Workload> workloads = problem_.workloads();
  const DeviceChoice choice = choice_of(device_.read<api::DeviceOptions>());
  SpotCheckOptions options;
  options.samples = static_cast<int>(parse_number("--samples", samples_, 1, kMostSamples));
  options.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
  const OpenDevice setup = open_device(choice, workloads[0], {environment_, 0, Timings::kShort, &end_flag()});
  if (!setup.note.empty()) tell("note: {}", setup.note);
  workloads = problem_.served_by(setup.device, std::move(workloads),
                                 [](const std::string& reason) { tell("note: left out: {}", reason); });

  const std::atomic<bool>& interrupted = watch_signals();
  nlohmann::json checks = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows;
  int sampled = 0, right = 0, failed = 0;
  std::string first_failure;
  for (const Workload& workload : workloads) {
    if (interrupted) break;
    const Task task = task_of(workload, setup.device);
    const std::vector<FamilyCheck> found = spot_check(task, candidates_for(task), setup, options);
    for (const FamilyCheck& check : found) checks.push_back(check);
    for (const FamilyCheck& check : found) {
      sampled += check.sampled;
      right += check.right;
      failed += static_cast<int>(check.failures.size());
      rows.push_back({short_text(workload), check.family, fmt::format("{}", check.sampled),
                      fmt::format("{}", check.right), fmt::format("{}", check.rejected),
                      fmt::format("{}", check.failures.size()),
                      fmt::format("{:.3f}", check.error_of_tolerance)});
      if (!check.failures.empty() && first_failure.empty()) {
        const CheckFailure& first = check.failures[0];
        first_failure = fmt::format("'{}' {}: {}: {}", to_text(workload), to_text(first.config),
                                    name_of(first.failure.kind), first_line(first.failure.text));
      }
    }
  }
  if (json_)
    print_json({{"device", setup.device.name},
                {"identity", identity_of(setup.device)},
                {"complete", !interrupted},
                {"sampled_configs", sampled},
                {"right_configs", right},
                {"failed_configs", failed},
                {"checks", checks}});
  else
    fmt::print(
        "{}\n\n{}", setup.device.name,
        format_table({"<workload", "<family", "configs", "right", "rejected", "failed", "error / tolerance"},
                     rows, {.width = environment_.columns}));
  if (interrupted) return kInterruptedCode;
  if (failed == 0) return 0;
  tell("lehr: {} of {} configs failed, the first: {}", failed, sampled, first_failure);
  return kCheckFailedCode;
}

}  // namespace lehr
