#include "measure/host/host_backend.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/host/cpu_device.h"
#include "measure/host/environment_folders.h"
#include "measure/host/host_compiler.h"
#include "measure/host/host_runner.h"
#include "measure/host/peak.h"
#include "measure/host/processor_features.h"
#include "runtime/cpu_features.h"

namespace lehr {

HostCompilerOptions host_compiler_options(const ToolPaths& tools, const Isa& isa) {
  HostCompilerOptions options;
  options.isa = isa;
  options.compiler = tools.compiler;
  if (!tools.path.empty()) options.search_path = tools.path;
  options.temp_base = tools.scratch;
  return options;
}

Isa native_isa(const ToolPaths& tools) {
  Isa isa;
  const std::span<const IsaFeature> features = kCpuArchs.features;
  const runtime::CpuFeatures here = runtime::cpu_features_here();
  const auto has = [&](const IsaFeature& one) { return (here & runtime::cpu_feature_named(one.name)) != 0; };
  // The usual case: running the compiler is avoided, since it takes time.
  if (std::ranges::none_of(features, has)) return isa;
  try {
    const std::vector<std::string> made = features_of(HostCompiler(host_compiler_options(tools)).macros());
    for (const IsaFeature& one : features)
      if (has(one) && std::ranges::find(made, one.name) != made.end())
        isa.abilities |= static_cast<int>(one.ability);
  } catch (const Error&) {  // the error is reported when a source is compiled
  }
  return isa;
}

std::string missing_for(const Isa& isa, const ToolPaths& tools) {
  for (const std::string& feature : features_of(HostCompiler(host_compiler_options(tools, isa)).macros()))
    if ((runtime::cpu_feature_named(feature) & runtime::cpu_features_here()) == 0) return feature;
  return "";
}

namespace {

std::unique_ptr<Compiler> make_host_compiler(const ToolPaths& tools, const CompileSettings& settings) {
  HostCompilerOptions options = host_compiler_options(tools, settings.isa);
  options.jobs = settings.jobs;
  options.stop = settings.stop;
  return std::make_unique<HostCompiler>(std::move(options));
}

std::string describe_cpu(const ToolPaths& tools) {
  const Device cpu = cpu_device(0, true, native_isa(tools));
  const Limits& l = cpu.limits;
  const std::vector<std::string> features = feature_names(l.abilities);
  const auto bytes = [](std::int64_t count) { return format_bytes(static_cast<double>(count)); };
  const auto copies = [&](int threads) {
    const CopyRates rates = measure_copy_gbytes(threads, l.l3_bytes);
    return fmt::format("{:.1f} GB/s ({:.1f} streaming)", rates.ordinary, rates.streaming);
  };
  return fmt::format(
      "{}, {}{}{}, {} threads, L1 {}, L2 {}, L3 {}; measured {:.0f} GFLOP/s f32, {:.1f} GB/s; copies {} "
      "on one thread, {} on all",
      cpu.name, l.arch, features.empty() ? "" : " with ", listed(features), l.cores, bytes(l.l1_bytes),
      bytes(l.l2_bytes), bytes(l.l3_bytes), l.peak_gflops_f32, l.dram_gbytes_per_s, copies(1),
      copies(l.cores));
}

constexpr MachinePart kHostParts[] = {
    {"cpu", &describe_cpu},
    {"host compiler", [](const ToolPaths& tools) { return make_host_compiler(tools, {})->identity(); }},
};

}  // namespace

constinit const Backend kHostBackend = {
    .target = Target::kCpu,
    .find = [](const DeviceRequest& request, std::string&) -> std::optional<Device> {
      return cpu_device(request.threads, request.measure_rates, request.isa);
    },
    .parts = kHostParts,
    .on_host = true,
    .library_folders = [](const ToolPaths& tools) { return environment_library_folders(tools.path); },
    .compiler = &make_host_compiler,
    .make_runner = []() -> std::unique_ptr<Runner> { return std::make_unique<HostRunner>(); },
    .caches = "warm",
    .peak_gflops = [](const Limits& limits) { return measure_peak_gflops(limits.cores, limits.arch); },
    .read_gbytes = [](const Limits& limits) { return measure_read_gbytes(limits.cores, limits.l3_bytes); },
    .burst_gflops = [](const Limits& limits) { return measure_burst_gflops(limits.cores, limits.arch); },
    // Turns are short, so that both turns of a pair lie in one calm period, and only calm rounds count
    // (measure/core/ratio.h). If a participant lost its CPUs, only its time shows it: the CPU time of its
    // other threads is reported some milliseconds late.
    .contest = {.block_us = 2000, .calm_within = 1.05, .max_rounds = 5000, .stage_rounds = 20},
};

}  // namespace lehr
