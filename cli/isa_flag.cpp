// The table of levels, held against the compiler and the processor.
#include "cli/isa_flag.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/target.h"
#include "cli/args.h"
#include "measure/host/host_backend.h"
#include "measure/host/processor_features.h"
#include "runtime/cpu_features.h"

namespace lehr {
namespace {

std::vector<const IsaLevel*> all_levels() {
  std::vector<const IsaLevel*> levels;
  for (const Target target : kTargets)
    for (const IsaLevel& level : archs_of(target).levels) levels.push_back(&level);
  return levels;
}

std::vector<std::string> names_here() {
  std::vector<std::string> names = {std::string(kNativeIsa)};
  for (const IsaLevel* level : all_levels())
    if (level->machine == runtime::cpu_machine()) names.emplace_back(level->name);
  return names;
}

// What the compiler uses for that level and this processor lacks; "" where there is nothing.
std::string missing_for(const IsaLevel& level, const Environment& environment) {
  const HostCompiler compiler(host_compiler_options(environment, &level));
  for (const std::string& feature : features_of(compiler.macros()))
    if ((runtime::cpu_feature_named(feature) & runtime::cpu_features_here()) == 0) return feature;
  return "";
}

}  // namespace

std::string isa_help() {
  return fmt::format("{}: what kernels for the CPU are made for ({})", fmt::join(names_here(), " | "),
                     kNativeIsa);
}

std::string isa_filter_help() {
  return fmt::format("only winners that were made for it: {} (all)", fmt::join(names_here(), " | "));
}

const IsaLevel* parse_isa(const std::string& text) {
  const IsaLevel* level = isa_level_named(text);
  if (level == nullptr)
    parse_choice("--isa", text, names_here());
  else if (level->machine != runtime::cpu_machine())
    throw_user("--isa {} is for {}, and this machine is {}: it takes {}", text, level->machine,
               runtime::cpu_machine(), listed(names_here()));
  return level;
}

void check_runs_here(const IsaLevel& level, const Environment& environment) {
  const std::string missing = missing_for(level, environment);
  if (!missing.empty())
    throw_environment(
        "--isa {} cannot be used: its kernels need {}, which this processor lacks; lehr doctor says which "
        "levels it "
        "runs",
        level.name, missing);
}

std::string describe_isa_levels(const Environment& environment) {
  const HostCompiler without_a_level(host_compiler_options(environment));  // or there is no compiler at all
  std::vector<std::string> words;
  for (const std::string& name : names_here()) {
    const IsaLevel* const level = isa_level_named(name);
    try {
      const std::string missing = level == nullptr ? "" : missing_for(*level, environment);
      words.push_back(missing.empty() ? name : fmt::format("not {} (no {})", name, missing));
    } catch (const Error& error) {
      words.push_back(fmt::format("not {} ({})", name, error.what()));
    }
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace lehr
