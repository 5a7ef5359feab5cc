// Builds the document, kernel by kernel.
#include "deploy/bundle_json.h"

#include <fmt/format.h>

#include <optional>
#include <variant>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/hash.h"
#include "codegen/emit.h"
#include "templates/catalog.h"
#include "tune/stored_kernel.h"

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
  // Names every member, so that a new one does not compile before it is thought of here.
  const auto& [target, text, entry, all_params, launch, scratch_bytes, then] = source;
  const auto& [grid, block, shared_bytes, tasks, prepack_tasks, cluster, programmatic] = launch;
  CHECK(then.empty(), "a kernel that others follow is no winner");
  json params = json::array();
  for (const SourceParam& param : all_params) {
    const auto& [name, type, elements, direction, map] = param;
    params.push_back({{"name", name},
                      {"dtype", std::string(name_of(type))},
                      {"elements", elements},
                      {"direction", std::string(ir::name_of(direction))}});
    if (map) params.back()["tensor_map"] = to_json(*map);
  }
  return {{"target", std::string(name_of(target))},
          {"entry", entry},
          {"params", params},
          {"grid", grid},
          {"block", block},
          {"cluster", cluster},
          {"programmatic", programmatic},
          {"shared_bytes", shared_bytes},
          {"tasks", tasks},
          {"scratch_bytes", scratch_bytes},
          {"workspace_bytes", workspace_bytes(source)},
          {"prepack_tasks", prepack_tasks},
          {"prepacked_bytes", prepacked_bytes(source)},
          {"text", text},
          {"text_hash", to_hex(stable_hash(text))}};
}

namespace {

/// Why a winner is not exported.
struct Refusal {
  std::string reason;             ///< a clause
  bool remeasuring_helps = true;  ///< its config can still be made and timed
};

/// A winner's source, made with the facts of its device and held against the hash of what was measured.
/// Throws Error for a workload or a config that the templates of today do not know.
std::variant<Source, Refusal> source_of(const Winner& winner) {
  const Record& record = winner.record;
  const Workload workload = parse_workload(record.workload);
  if (!winner.device)
    return Refusal{
        record.device_hash == 0
            ? "its row, of a log of before version 3, tells neither its device's facts nor the hash of "
              "what was measured"
            : "the row of its device, with the facts that its kernel depends on, is not in the log"};
  const StoredLimits stored = limits_of(*winner.device);
  if (const auto invalid = space_for(workload, stored.limits).why_invalid(record.config))
    return Refusal{fmt::format("its config is no longer valid: {}: tune it again", *invalid), false};
  Source source = emit(lower(workload, record.config, stored.limits));
  std::optional<std::string> another = why_another(record, source);
  if (!another) return source;
  if (!stored.untold.empty())
    *another += fmt::format(", and the row of its device, of an older version, does not tell {}",
                            fmt::join(stored.untold, ", "));
  return Refusal{*std::move(another)};
}

json json_of(const Winner& winner, const Source& source) {
  const Record& record = winner.record;
  const Verdict& verdict = winner.verdict;
  return {{"workload", record.workload},
          {"workload_hash", to_hex(stable_hash(record.workload))},
          {"device", record.device},
          {"target", record.target},
          {"arch", record.arch},
          {"template", record.config.family},
          {"template_version", record.template_version},
          {"config", to_text(record.config)},
          {"time_us", verdict.best.us},
          {"time_us_interval", {verdict.best.interval.low, verdict.best.interval.high}},
          {"contested", winner.contested},
          {"speedup_vs_default", verdict.speedup_vs_default.value},
          {"baseline", verdict.baseline},
          {"speedup_vs_baseline", verdict.speedup_vs_baseline.value},
          {"max_error", std::get<Timing>(record.outcome).max_error},
          {"deterministic", verdict.deterministic},
          {"record", record.id},
          {"source", to_json(source)}};
}

}  // namespace

Bundle make_bundle(std::span<const Winner> winners, const std::string& tool_version) {
  Bundle bundle;
  json kernels = json::array();
  for (std::size_t i = 0; i < winners.size(); ++i) {
    Refusal refusal{"", false};
    try {
      std::variant<Source, Refusal> made = source_of(winners[i]);
      if (const auto* source = std::get_if<Source>(&made)) {
        kernels.push_back(json_of(winners[i], *source));
        continue;
      }
      refusal = std::get<Refusal>(std::move(made));
    } catch (const Error& error) {
      refusal.reason = error.what();
    }
    if (refusal.remeasuring_helps)
      refusal.reason += "; lehr export --remeasure measures it again where its device is at hand";
    bundle.skipped.push_back({i,
                              fmt::format("'{}' is left out: {}", winners[i].record.workload, refusal.reason),
                              refusal.remeasuring_helps});
  }
  bundle.kernels = kernels.size();
  bundle.text = json{{"format", "lehr-bundle"},
                     {"version", kBundleVersion},
                     {"tool_version", tool_version},
                     {"kernels", std::move(kernels)}}
                    .dump(2, ' ', false, json::error_handler_t::replace) +
                "\n";
  return bundle;
}

}  // namespace lehr
