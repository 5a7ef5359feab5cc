// The summary's derived numbers and its JSON form.
#include "tune/summary.h"

#include "base/describe_json.h"

namespace lehr {
namespace {

using nlohmann::json;

json json_of(const std::optional<Trial>& trial, const Time& time, double flops) {
  if (!trial) return nullptr;
  return {{"time_us", time.us},
          {"time_us_interval", time.interval},
          {"gflops", gflops_of(flops, time.us)},
          {"config", to_text(trial->config)},
          {"template", trial->config.family},
          {"record", trial->id},
          {"picked_by", trial->picked_by}};
}

json json_of(const BaselineTime& b) {
  return {{"name", b.name},
          {"time_us", known_or_null(b.time.us)},
          {"time_us_interval", b.time.interval},
          {"speedup", known_or_null(b.speedup.value)},
          {"speedup_interval", b.speedup.interval},
          {"gpu", b.gpu},
          {"note", known_or_null(b.note)},
          {"ways_tried", known_or_null(b.ways_tried)},
          {"ways", known_or_null(b.ways)},
          {"missing", known_or_null(b.missing)}};
}

json json_of(const FinalistTold& f) {
  return {{"config", f.config},
          {"record", f.record},
          {"shown_us", known_or_null(f.shown_us)},
          {"time_us", known_or_null(f.time_us)},
          {"rounds", f.rounds},
          {"dropped", f.dropped},
          {"turns_s", f.turns_s},
          {"proof", std::string(name_of(f.proof))},
          {"proof_s", f.proof_s},
          {"missing", known_or_null(f.missing)}};
}

json array_of(const auto& each) {
  json documents = json::array();
  for (const auto& one : each) documents.push_back(json_of(one));
  return documents;
}

json json_of(const Elapsed& elapsed) {
  const Elapsed::Parts& parts = elapsed.parts;
  return {{"total", elapsed.total_s},
          {"setup", elapsed.setup_s},
          {"search", elapsed.search_s},
          {"compile", elapsed.compile_s},
          {"run", elapsed.run_s},
          {"parts",
           {{"setup", parts.setup_s},
            {"hints", parts.hints_s},
            {"proposals", parts.proposals_s},
            {"compile", parts.compile_s},
            {"trials", parts.trials_s},
            {"finals", parts.finals_s}}}};
}

}  // namespace

void to_json(json& document, const Interval& interval) {
  document = interval.known() ? json::array({interval.low, interval.high}) : json(nullptr);
}

double gflops_of(double flops, double time_us) {
  return time_us > 0 ? flops / time_us * 1e-3 : 0;
}

double device_idle_s(const Elapsed& elapsed) {
  return elapsed.compile_s + elapsed.search_s;
}

json to_json(const Summary& s) {
  json failed = json::object();
  for (const auto& [kind, count] : s.failed) failed[std::string(name_of(kind))] = count;
  const Verdict& verdict = s.verdict;
  json baseline = nullptr;
  if (!verdict.baseline.empty()) baseline = {{"name", verdict.baseline}, {"time_us", verdict.baseline_us}};
  const std::string_view note = why_above_all(s.roofline_fraction.value_or(0));
  const double kernels_per_s = s.compiling_s > 0 ? s.kernels / s.compiling_s : 0;
  return {
      {"workload", s.workload},
      {"device", s.device},
      {"identity", s.identity},
      {"target", s.target},
      {"caches", s.caches},
      {"session", s.session},
      {"strategy", s.strategy},
      {"seed", s.seed},
      {"slots", s.slots},
      {"default", json_of(s.default_trial, verdict.default_time, s.flops)},
      {"best", json_of(s.best, verdict.best, s.flops)},
      {"gpu", s.gpu},
      {"contested", s.contested},
      {"provisional", verdict.provisional},
      {"shown_us", known_or_null(s.shown_us)},
      {"finalists", array_of(s.finalists)},
      {"earlier", known_or_null(s.earlier)},
      {"baseline", baseline},
      {"baselines", array_of(s.baselines)},
      {"speedup_vs_default", known_or_null(verdict.speedup_vs_default.value)},
      {"speedup_vs_default_interval", verdict.speedup_vs_default.interval},
      {"speedup_vs_baseline", known_or_null(verdict.speedup_vs_baseline.value)},
      {"speedup_vs_baseline_interval", verdict.speedup_vs_baseline.interval},
      {"deterministic", verdict.deterministic},
      {"unproven", known_or_null(s.unproven)},
      {"determinism", known_or_null(s.determinism)},
      {"checked_by", known_or_null(s.checked_by)},
      {"roofline_fraction", s.roofline_fraction},
      {"roofline_note", known_or_null(note)},
      {"peaks",
       {{"gflops", known_or_null(s.peaks.gflops)},
        {"gflops_f32", known_or_null(s.peaks.units == kF32Units ? s.peaks.gflops : 0)},
        {"units", s.peaks.units},
        {"gbytes_per_s", known_or_null(s.peaks.gbytes_per_s)}}},
      {"trials",
       {{"measured", s.measured},
        {"timed", s.timed},
        {"reused", s.reused},
        {"evidence", s.evidence},
        {"failed", failed}}},
      {"windows", {{"timed_again", s.retimed}, {"left_disturbed", s.disturbed}}},
      {"first_failure", known_or_null(s.first_failure)},
      {"compile",
       {{"kernels", s.kernels}, {"seconds", s.compiling_s}, {"kernels_per_s", known_or_null(kernels_per_s)}}},
      {"model", {{"fits", s.fits}, {"scored", s.scored}}},
      {"elapsed_s", json_of(s.elapsed)},
      {"device_idle_s", device_idle_s(s.elapsed)},
      {"stop_reason", std::string(name_of(s.stop))},
      {"stop_text", s.stop_text},
      {"resume", known_or_null(s.resume_text)}};
}

}  // namespace lehr
