// Computes the summary's derived numbers and its JSON form.
#include "tune/summary.h"

#include "base/describe_json.h"
#include "tune/documents.h"

namespace lehr {

using nlohmann::json;

void to_json(json& document, const Interval& interval) {
  document = interval.known() ? json::array({interval.low, interval.high}) : json(nullptr);
}

double gflops_of(double flops, double time_us) {
  return time_us > 0 ? flops / time_us * 1e-3 : 0;
}

double device_idle_s(const Elapsed& elapsed) {
  return elapsed.compile_s + elapsed.search_s;
}

json to_json(const Summary& summary) {
  return summary;
}

json to_json(const RangeSummary& summary) {
  return summary;
}

}  // namespace lehr
