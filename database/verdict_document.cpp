#include "database/verdict_document.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace lehr {
namespace {

using nlohmann::json;

/// The member of an object; null where there is none.
const json& member(const json& object, const char* name) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

Interval interval_of(const json& found) {
  if (!found.is_array() || found.size() != 2 || !found[0].is_number() || !found[1].is_number()) return {};
  const Interval interval = {found[0].get<double>(), found[1].get<double>()};
  const bool sound = interval.low >= 0 && interval.low <= interval.high && std::isfinite(interval.high);
  return sound ? interval : Interval{};
}

}  // namespace

void take_from_document(StoredVerdict& verdict) {
  const json document = json::parse(verdict.json, nullptr, false);
  verdict.best.interval = interval_of(member(member(document, "best"), "time_us_interval"));
  verdict.default_time.interval = interval_of(member(member(document, "default"), "time_us_interval"));
  verdict.speedup_vs_default.interval = interval_of(member(document, "speedup_vs_default_interval"));
  verdict.speedup_vs_baseline.interval = interval_of(member(document, "speedup_vs_baseline_interval"));
  const json& deterministic = member(document, "deterministic");
  if (deterministic.is_boolean()) verdict.deterministic = deterministic.get<bool>();
}

}  // namespace lehr
