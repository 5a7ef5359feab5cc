#include "deploy/kernel_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/hash.h"
#include "tune/summary.h"
#include "workload/short_text.h"

namespace lehr {

using nlohmann::json;

json to_json(const ir::TensorMap& map) {
  const auto used = [&](const auto& values) {
    return std::vector<std::int64_t>(values.begin(), values.begin() + map.rank);
  };
  json document = {{"dims", used(map.dims)},
                   {"strides", used(map.strides)},
                   {"swizzle_bytes", map.swizzle},
                   {"tf32", map.tf32}};
  if (const auto& i = map.im2col) {
    document["im2col"] = {{"channels", map.box[0]},
                          {"pixels", i->pixels},
                          {"lower_corner", i->lower},
                          {"upper_corner", i->upper},
                          {"strides", i->step}};
  } else {
    document["box"] = used(map.box);
  }
  return document;
}

json to_json(const Source& source) {
  // This names all members, so that the code does not compile if a new member is not considered here.
  const auto& [target, text, entry, all_params, launch, scratch_bytes, most_rows] = source;
  const auto& [grid, block, shared_bytes, work_items, further_steps, prepack_work_items, cluster,
               programmatic] = launch;
  json params = json::array();
  for (const SourceParam& param : all_params) {
    const auto& [name, type, elements, direction, map] = param;
    params.push_back({{"name", name},
                      {"dtype", std::string(name_of(type))},
                      {"elements", elements},
                      {"direction", std::string(ir::name_of(direction))}});
    if (map) params.back()["tensor_map"] = to_json(*map);
  }
  json document = {{"target", std::string(name_of(target))},
                   {"entry", entry},
                   {"params", params},
                   {"grid", grid},
                   {"block", block},
                   {"cluster", cluster},
                   {"programmatic", programmatic},
                   {"shared_bytes", shared_bytes},
                   {"tasks", work_items},
                   {"steps", 1 + further_steps},
                   {"scratch_bytes", scratch_bytes},
                   {"workspace_bytes", workspace_bytes(source)},
                   {"prepack_tasks", prepack_work_items},
                   {"prepacked_bytes", prepacked_bytes(source)},
                   {"text", text},
                   {"text_hash", to_hex(stable_hash(text))}};
  if (most_rows > 0) document["most_rows"] = most_rows;
  return document;
}

json to_json(const Winner& winner) {
  const Record& record = winner.record;
  const Verdict& verdict = winner.verdict;
  return {{"workload", record.workload},
          {"device", record.device},
          {"target", record.target},
          {"arch", record.arch},
          {"template", record.config.family},
          {"template_version", record.template_version},
          {"config", to_text(record.config)},
          {"time_us", verdict.best.us},
          {"time_us_interval", {verdict.best.interval.low, verdict.best.interval.high}},
          {"contested", winner.contested},
          {"merged_from", winner.merged_from},
          {"speedup_vs_default", verdict.speedup_vs_default.value},
          {"baseline", verdict.baseline},
          {"speedup_vs_baseline", verdict.speedup_vs_baseline.value},
          {"max_error", std::get<Timing>(record.outcome).max_error},
          {"deterministic", verdict.deterministic},
          {"record", record.id}};
}

double gflops_of(const Winner& winner) {
  const std::optional<Workload> workload = read_workload(winner.record.workload);
  return workload ? gflops_of(flops_of(*workload), winner.verdict.best.us) : 0;
}

json report_of(const Winner& winner) {
  const Record& record = winner.record;
  const Verdict& verdict = winner.verdict;
  json document = to_json(winner);
  document.update({{"gflops", known_or_null(gflops_of(winner))},
                   {"speedup_vs_default", known_or_null(verdict.speedup_vs_default.value)},
                   {"speedup_vs_default_interval", verdict.speedup_vs_default.interval},
                   {"baseline", known_or_null(verdict.baseline)},
                   {"baseline_us", known_or_null(verdict.baseline_us)},
                   {"algorithms_tried", known_or_null(verdict.algorithms_tried)},
                   {"algorithms", known_or_null(verdict.algorithms)},
                   {"provisional", verdict.provisional},
                   {"speedup_vs_baseline", known_or_null(verdict.speedup_vs_baseline.value)},
                   {"speedup_vs_baseline_interval", verdict.speedup_vs_baseline.interval},
                   {"trials", winner.trials},
                   {"picked_by", record.picked_by},
                   {"created_unix_ms", record.created_unix_ms},
                   {"session", record.session},
                   {"session_began_unix_ms", record.session_began_unix_ms},
                   {"set", winner.rows}});
  return document;
}

}  // namespace lehr
