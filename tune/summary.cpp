// The summary's derived numbers and its JSON form.
#include "tune/summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lehr {
namespace {

using nlohmann::json;

json number_or_null(double value) {
  return value > 0 ? json(value) : json(nullptr);
}

/// [low, high]
json json_of(const Interval& interval) {
  return interval.known() ? json::array({interval.low, interval.high}) : json(nullptr);
}

json json_of(const std::optional<TimedConfig>& timed) {
  if (!timed) return nullptr;
  return {{"time_us", timed->time_us},         {"time_us_interval", json_of(timed->interval)},
          {"gflops", timed->gflops},           {"config", to_text(timed->config)},
          {"template", timed->config.family},  {"record", timed->record_id},
          {"picked_by", timed->picked_by}};
}

json json_of(const std::optional<GpuState>& state) {
  if (!state) return nullptr;
  return {{"sm_mhz", state->sm_mhz}, {"power_w", state->power_w}, {"temperature_c", state->temperature_c}};
}

}  // namespace

double gflops_of(const Workload& workload, double time_us) {
  return time_us > 0 ? flops_of(workload) / time_us * 1e-3 : 0;
}

std::optional<double> roofline_fraction(const Workload& workload, const Limits& limits, double time_us) {
  const DType accum = accum_of(workload);
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  const bool f32 = accum == DType::kF32 && std::ranges::all_of(tensors, [](const TensorSpec& tensor) {
                     return tensor.is_output() || tensor.type == DType::kF32;
                   });
  if (!f32 || limits.peak_gflops_f32 <= 0 || time_us <= 0) return std::nullopt;
  double bound_us = flops_of(workload) / limits.peak_gflops_f32 * 1e-3;
  const double caches =
      static_cast<double>(limits.l2_bytes) * (limits.target == Target::kCpu ? limits.cores : 1) +
      static_cast<double>(limits.l3_bytes);
  if (min_bytes_of(workload) > caches) {
    if (limits.dram_gbytes_per_s <= 0) return std::nullopt;
    bound_us = std::max(bound_us, min_bytes_of(workload) / limits.dram_gbytes_per_s * 1e-3);
  }
  return bound_us / time_us;
}

double device_idle_s(const Elapsed& elapsed) {
  return elapsed.compile_s + elapsed.search_s;
}

json to_json(const Summary& s) {
  json failed = json::object();
  for (const auto& [kind, count] : s.failed) failed[std::string(name_of(kind))] = count;
  json baselines = json::array();
  for (const BaselineTime& b : s.baselines)
    baselines.push_back({{"name", b.name},
                         {"time_us", number_or_null(b.time_us)},
                         {"time_us_interval", json_of(b.interval)},
                         {"speedup", number_or_null(b.speedup.value)},
                         {"speedup_interval", json_of(b.speedup.interval)},
                         {"gpu", json_of(b.gpu)},
                         {"note", b.note.empty() ? json(nullptr) : json(b.note)},
                         {"missing", b.missing.empty() ? json(nullptr) : json(b.missing)}});
  json baseline = nullptr;
  if (s.baseline)
    baseline = {{"name", s.baselines[*s.baseline].name}, {"time_us", s.baselines[*s.baseline].time_us}};
  const double kernels_per_s = s.compiling_s > 0 ? s.kernels / s.compiling_s : 0;
  return {{"workload", s.workload},
          {"device", s.device},
          {"identity", s.identity},
          {"target", s.target},
          {"caches", s.caches},
          {"session", s.session},
          {"strategy", s.strategy},
          {"seed", s.seed},
          {"default", json_of(s.default_config)},
          {"best", json_of(s.best)},
          {"gpu", json_of(s.gpu)},
          {"contested", s.contested},
          {"baseline", baseline},
          {"baselines", baselines},
          {"speedup_vs_default", number_or_null(s.speedup_vs_default.value)},
          {"speedup_vs_default_interval", json_of(s.speedup_vs_default.interval)},
          {"speedup_vs_baseline", number_or_null(s.speedup_vs_baseline.value)},
          {"speedup_vs_baseline_interval", json_of(s.speedup_vs_baseline.interval)},
          {"deterministic",
           s.determinism && s.determinism->same ? json(*s.determinism->same) : json(nullptr)},
          {"determinism", s.determinism ? json(s.determinism->text) : json(nullptr)},
          {"roofline_fraction", s.roofline_fraction ? json(*s.roofline_fraction) : json(nullptr)},
          {"trials",
           {{"measured", s.measured},
            {"timed", s.timed},
            {"reused", s.reused},
            {"evidence", s.evidence},
            {"failed", failed}}},
          {"windows", {{"timed_again", s.retimed}, {"left_disturbed", s.disturbed}}},
          {"first_failure", s.first_failure.empty() ? json(nullptr) : json(s.first_failure)},
          {"compile",
           {{"kernels", s.kernels},
            {"seconds", s.compiling_s},
            {"kernels_per_s", number_or_null(kernels_per_s)}}},
          {"model", {{"fits", s.fits}, {"scored", s.scored}}},
          {"elapsed_s",
           {{"total", s.elapsed.total_s},
            {"setup", s.elapsed.setup_s},
            {"search", s.elapsed.search_s},
            {"compile", s.elapsed.compile_s},
            {"run", s.elapsed.run_s}}},
          {"device_idle_s", device_idle_s(s.elapsed)},
          {"stop_reason", std::string(name_of(s.stop))},
          {"stop_text", s.stop_text},
          {"resume", s.resume_text.empty() ? json(nullptr) : json(s.resume_text)}};
}

}  // namespace lehr
