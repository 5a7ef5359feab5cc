// Compiles configs, and prints a line for each: registers, spills and shared memory, or why there is no
// binary.
#include "cli/compile_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>

#include "api/progress.h"
#include "base/args.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/device_flags.h"
#include "cli/help.h"
#include "cli/show_text.h"
#include "cli/standard_streams.h"
#include "codegen/emit.h"
#include "measure/core/format.h"
#include "measure/system/affinity.h"
#include "measure/worker/backends.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

using nlohmann::json;

const Resources& resources_of(const Compiled& compiled) {
  const auto* failure = std::get_if<Failure>(&compiled);
  return failure ? failure->resources : std::get<Binary>(compiled).resources;
}

std::string_view result_of(const Compiled& compiled) {
  const auto* failure = std::get_if<Failure>(&compiled);
  return failure ? name_of(failure->kind) : "ok";
}

std::string table_of(const std::vector<Config>& configs, const std::vector<Compiled>& results) {
  const auto number = [](const std::optional<int>& value) { return value ? std::to_string(*value) : "-"; };
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const Resources& used = resources_of(results[i]);
    rows.push_back({std::string(result_of(results[i])), number(used.registers), number(used.spill_bytes),
                    number(used.stack_bytes), number(used.shared_bytes),
                    fmt::format("{:.2f} s", used.compile_s), to_text(configs[i])});
  }
  return format_table(
      {"<result", "registers", "spilled bytes", "stack bytes", "shared bytes", "compile", "<config"}, rows);
}

json json_of(const std::vector<Config>& configs, const std::vector<Compiled>& results) {
  json kernels = json::array();
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const auto* failure = std::get_if<Failure>(&results[i]);
    kernels.push_back({{"config", to_text(configs[i])},
                       {"result", std::string(result_of(results[i]))},
                       {"text", failure ? json(failure->text) : json(nullptr)},
                       {"resources", resources_of(results[i])}});
  }
  return kernels;
}

}  // namespace

CompileCommand::CompileCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command = root.add_subcommand(
      "compile", "Compile configs for a device that need not be present: registers, spills, shared memory");
  kernel_.add_to(*command);
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(*command, kSearchGroup, name, value, help);
  };
  add("--samples", samples_, "so many random configs; without it and --config: the default of each family");
  add("--seed", seed_, "same seed: same samples (0)");
  add("--family", family_, "only this kernel family");
  options_.add<api::DeviceOptions>(*command, {"jobs"});
  command->get_option("--jobs")->description("kernels compiled at once (one per CPU)");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(
      examples({{"problem", "lehr compile \"gemm m=4096 n=4096 k=4096\" --arch sm_90a"},
                {"search", "lehr compile gemm --m 4096 --n 4096 --k 4096 --arch sm_80 --samples 64 --seed 3"},
                {"measuring", "lehr compile gemm --m 512 --n 512 --k 512 --device cpu --threads 1 --jobs 2"},
                {"output", "lehr compile gemm --m 4096 --n 4096 --k 4096 --arch sm_90a --json"}},
               "Exit code 1 when a kernel does not compile, spills, or draws an advisory of ptxas (C75xx)."));
}

std::vector<Point> CompileCommand::points(const KernelSpace& kernels) const {
  const Space& space = kernels.space;
  std::vector<std::string> known;
  for (const FamilySpace& family : space.families()) known.push_back(family.family());
  if (!family_.empty()) parse_choice("--family", family_, known);
  if (const std::optional<Point> point = kernel_.point(space)) {
    if (!samples_.empty()) throw_user("--config and --samples exclude each other");
    if (!family_.empty()) throw_user("--config and --family exclude each other");
    return {*point};
  }
  if (samples_.empty()) {
    std::vector<Point> result;
    for (const Point& point : kernels.defaults)
      if (family_.empty() || known[point.family] == family_) result.push_back(point);
    return result;
  }
  const auto wanted = static_cast<std::size_t>(parse_number("--samples", samples_, 1, kMostSamples));
  Rng rng(static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX)));
  if (family_.empty()) return distinct_samples(space, std::nullopt, wanted, rng);
  return distinct_samples(space, std::ranges::find(known, family_) - known.begin(), wanted, rng);
}

int CompileCommand::run() {
  const Workload workload = kernel_.workload();
  int jobs = options_.read<api::DeviceOptions>().jobs;
  if (jobs == 0) jobs = static_cast<int>(allowed_cpus().size());
  const Device device = kernel_.device(workload, environment_);
  const KernelSpace kernels = kernel_space(workload, device.limits);
  std::vector<Config> chosen;
  std::vector<Source> sources;
  for (const Point& point : points(kernels)) {
    chosen.push_back(kernels.space.config_of(point));
    sources.push_back(emit(kernels.lower(point)));
  }
  const std::unique_ptr<Compiler> compiler =
      make_compiler(device.limits, environment_, {jobs, kernel_.isa()});

  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Compiled> results = compiler->compile(sources);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double rate = seconds > 0 ? static_cast<double>(results.size()) / seconds : 0;
  std::map<FailureKind, int> failed;
  std::string first_failure;
  for (const Compiled& compiled : results) {
    const auto* failure = std::get_if<Failure>(&compiled);
    if (!failure) continue;
    ++failed[failure->kind];
    if (first_failure.empty()) first_failure = first_line(failure->text);
  }
  if (json_) {
    print_json({{"workload", to_text(workload)},
                {"arch", device.limits.arch},
                {"compiler", compiler->identity()},
                {"jobs", jobs},
                {"seconds", seconds},
                {"kernels_per_s", rate},
                {"kernels", json_of(chosen, results)}});
  } else {
    fmt::print(
        "workload  {}\narch      {}\ncompiler  {}\n\n{}\n{} kernels in {:.2f} s, {} at once: {:.1f} "
        "kernels/s{}\n",
        to_text(workload), device.limits.arch, compiler->identity(), table_of(chosen, results),
        results.size(), seconds, jobs, rate,
        failed.empty() ? "" : "; failed: " + failures_text(failed) + ", the first with " + first_failure);
  }
  return failed.empty() ? 0 : 1;
}

}  // namespace lehr
