// The document of a range's tuning.
#include <nlohmann/json.hpp>

#include "base/describe_json.h"
#include "tune/range.h"
#include "tune/summary.h"

namespace lehr {
namespace {

using nlohmann::json;

json json_of(const Losses& losses, std::size_t sizes) {
  if (sizes == 0) return nullptr;
  return {{"sizes", sizes},
          {"mean", losses.mean},
          {"mean_interval", losses.mean_interval},
          {"worst", losses.worst}};
}

json best_of(const RangeSummary& s) {
  if (!s.record) return nullptr;
  const Timing& timing = std::get<Timing>(s.record->outcome);
  return {{"time_us", timing.time_us},
          {"time_us_interval", interval_of(timing)},
          {"gflops", gflops_of(s.flops, timing.time_us)},
          {"config", to_text(s.record->config)},
          {"template", s.record->config.family},
          {"record", s.record->id},
          {"picked_by", s.record->picked_by}};
}

}  // namespace

json to_json(const RangeSummary& s) {
  json failed = json::object();
  for (const auto& [kind, count] : s.failed) failed[std::string(name_of(kind))] = count;
  json losses = nullptr;
  if (s.set)
    losses = {{"measured", json_of(losses_of(s.set->times), s.set->times.size())},
              {"held_out", json_of(losses_of(s.set->held_out), s.set->held_out.size())}};
  return {
      {"workload", s.workload},
      {"device", s.device},
      {"identity", s.identity},
      {"target", s.target},
      {"caches", s.caches},
      {"session", s.session},
      {"strategy", s.strategy},
      {"seed", s.seed},
      {"best", best_of(s)},
      {"set", s.set ? json(*s.set) : json(nullptr)},
      {"losses", losses},
      {"compared", s.compared},
      {"missing", known_or_null(s.missing)},
      {"trials", {{"measured", s.measured}, {"timed", s.timed}, {"failed", failed}}},
      {"windows", {{"left_disturbed", s.disturbed}}},
      {"first_failure", known_or_null(s.first_failure)},
      {"elapsed_s",
       {{"total", s.total_s}, {"search", s.search_s}, {"choice", s.choice_s}, {"held_out", s.held_out_s}}}};
}

}  // namespace lehr
