// Compares given names with the table of instruction set levels, the compiler and the processor.
#include "api/device_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/host/host_backend.h"
#include "measure/system/affinity.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "runtime/cpu_features.h"
#include "tune/session.h"

namespace lehr {
namespace {

DeviceChoice parse_kind(const std::string& device) {
  DeviceChoice choice;
  if (device == "auto") return choice;
  choice.automatic = false;
  std::vector<std::string> known = {"auto"};
  for (const Backend* backend : backends()) {
    choice.target = backend->target;
    const std::string name(name_of(backend->target)), numbered = name + ":";
    if (device == name) return choice;
    known.push_back(name);
    if (!backend->numbered) continue;
    if (device.starts_with(numbered)) {
      choice.ordinal = static_cast<int>(
          parse_number("--device " + numbered, device.substr(numbered.size()), 0, kMostDevices - 1));
      return choice;
    }
    known.push_back(numbered + "0");
  }
  // The message proposes no similar name: "gpu" is more similar to "cpu" than to "cuda".
  throw_user("--device {} is not known: it takes {}; lehr doctor says which of them are here",
             device.empty() ? "''" : device, listed(known));
}

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

/// Returns the features of this machine's architecture as "LEVEL+FEATURE". LEVEL is the lowest level that the
/// feature can be added to.
std::vector<std::string> features_here() {
  std::vector<std::string> names;
  for (const Target target : kTargets)
    for (const IsaFeature& feature : archs_of(target).features)
      if (isa_level_named(feature.level)->machine == runtime::cpu_machine())
        names.push_back(fmt::format("{}+{}", feature.level, feature.name));
  return names;
}

/// Returns the values of --isa for help texts, such as "native | x86-64 | x86-64-v4, with features as
/// x86-64-v4+avx512vnni".
std::string isa_values() {
  const std::vector<std::string> features = features_here();
  return fmt::format("{}{}{}", fmt::join(names_here(), " | "), features.empty() ? "" : ", with features as ",
                     fmt::join(features, ", "));
}

bool has_level(Target target, const IsaLevel* level) {
  return std::ranges::any_of(archs_of(target).levels, [&](const IsaLevel& one) { return &one == level; });
}

}  // namespace

std::string isa_help() {
  return fmt::format("{}: what kernels for the CPU are made for ({})", isa_values(), kNativeIsa);
}

std::string isa_filter_help() {
  return fmt::format("only winners that were made for it: {} (all)", isa_values());
}

Isa parse_isa(const std::string& text) {
  const std::string_view name = split(text, '+').front();
  const IsaLevel* const level = isa_level_named(name);
  if (level == nullptr)
    parse_choice("--isa", name, names_here());
  else if (level->machine != runtime::cpu_machine())
    throw_user("--isa {} is for {}, and this machine is {}: it takes {}", text, level->machine,
               runtime::cpu_machine(), listed(names_here()));
  return isa_named(text);
}

DeviceChoice choice_of(const api::DeviceOptions& options) {
  const std::size_t cpus = allowed_cpus().size();
  if (options.threads < 0 || static_cast<std::size_t>(options.threads) > cpus)
    throw_user("--threads {} is not valid: this process may use {} CPUs", options.threads, cpus);
  DeviceChoice choice = parse_kind(options.device);
  choice.threads = options.threads;
  choice.caches = options.caches == "cold"     ? Caches::kCold
                  : options.caches == "memory" ? Caches::kMemory
                                               : Caches::kUsual;
  choice.overlap = options.overlap;
  choice.run_timeout_s = options.run_timeout_s;
  choice.isa = parse_isa(options.isa);
  if (choice.isa.level == nullptr) return choice;
  const Target target =
      *std::ranges::find_if(kTargets, [&](Target one) { return has_level(one, choice.isa.level); });
  if (!choice.automatic && choice.target != target)
    throw_user("--isa {} is for a {}; leave out --device {}", options.isa, target->title,
               name_of(choice.target));
  choice.automatic = false;
  choice.target = target;
  return choice;
}

std::vector<std::string> chosen_baselines(Target target, const std::string& flag) {
  if (flag.empty()) return usual_baselines(target);
  std::vector<std::string> known = baseline_names(target);
  if (target.has(Feature::kHostFunction)) known.emplace_back(kUnfused);
  return parse_choices("--baseline", flag, known);
}

std::string baseline_help() {
  std::string text =
      "vendor libraries to compare with, and where kernels are functions, unfused (the epilogue as a pass of "
      "its own)";
  std::string left_out;
  for (const Target target : kTargets) {
    const std::vector<std::string> usual = default_baselines(target);
    text += fmt::format("; {}: {}", target->title, fmt::join(baseline_names(target), ", "));
    for (const std::string& name : baseline_names(target))
      if (std::ranges::find(usual, name) == usual.end()) left_out += (left_out.empty() ? "" : ", ") + name;
  }
  return fmt::format("{} (all{}{})", text, left_out.empty() ? "" : " but ", left_out);
}

std::string describe_isa_levels(const ToolPaths& tools) {
  // This throws if there is no compiler at all.
  const HostCompiler without_a_level(host_compiler_options(tools));
  std::vector<std::string> words;
  std::vector<std::string> names = names_here();
  std::ranges::move(features_here(), std::back_inserter(names));
  for (const std::string& name : names) {
    try {
      const std::string missing = name == kNativeIsa ? "" : missing_for(isa_named(name), tools);
      words.push_back(missing.empty() ? name : fmt::format("not {} (no {})", name, missing));
    } catch (const Error& error) {
      words.push_back(fmt::format("not {} ({})", name, error.what()));
    }
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace lehr
