// Builds the document, kernel by kernel.
#include "deploy/bundle_json.h"

#include <optional>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/hash.h"
#include "codegen/emit.h"
#include "templates/catalog.h"

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
  json params = json::array();
  for (const SourceParam& param : source.params) {
    params.push_back({{"name", param.name},
                      {"dtype", std::string(name_of(param.type))},
                      {"elements", param.elements},
                      {"direction", std::string(ir::name_of(param.direction))}});
    if (param.map) params.back()["tensor_map"] = to_json(*param.map);
  }
  return {{"target", std::string(name_of(source.target))},
          {"entry", source.entry},
          {"params", params},
          {"grid", source.launch.grid},
          {"block", source.launch.block},
          {"cluster", source.launch.cluster},
          {"programmatic", source.launch.programmatic},
          {"shared_bytes", source.launch.shared_bytes},
          {"tasks", source.launch.tasks},
          {"scratch_bytes", source.scratch_bytes},
          {"workspace_bytes", workspace_bytes(source)},
          {"prepack_tasks", source.launch.prepack_tasks},
          {"prepacked_bytes", prepacked_bytes(source)},
          {"text", source.text},
          {"text_hash", to_hex(stable_hash(source.text))}};
}

namespace {

/// Limits that reproduce what was measured; nullopt with a reason when that is not possible here.
std::optional<Limits> limits_of(const Record& record, std::span<const Device> here, std::string& reason) {
  if (record.template_version != template_named(record.config.family).version) {
    reason = fmt::format("it was measured with version {} of {}, and this is version {}: tune it again",
                         record.template_version, record.config.family,
                         template_named(record.config.family).version);
    return std::nullopt;
  }
  if (record.target == name_of(Target::kCuda)) return cuda_limits(record.arch);
  for (const Device& device : here)
    if (record.device == identity_of(device)) return device.limits;
  reason = fmt::format("it was measured on another CPU or with another compiler ({}): export it there",
                       record.device);
  return std::nullopt;
}

}  // namespace

Bundle make_bundle(std::span<const Winner> winners, std::span<const Device> here,
                   const std::string& tool_version) {
  Bundle bundle;
  json kernels = json::array();
  for (const Winner& winner : winners) {
    const Record& record = winner.record;
    std::string reason;
    try {
      if (const std::optional<Limits> limits = limits_of(record, here, reason)) {
        const Workload workload = parse_workload(record.workload);
        if (const auto invalid = space_for(workload, *limits).why_invalid(record.config)) {
          reason = fmt::format("its config is no longer valid: {}", *invalid);
        } else {
          const Verdict& verdict = winner.verdict;
          kernels.push_back({{"workload", record.workload},
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
                             {"source", to_json(emit(lower(workload, record.config, *limits)))}});
          continue;
        }
      }
    } catch (const Error& error) {
      reason = error.what();
    }
    bundle.skipped.push_back(fmt::format("'{}' is left out: {}", record.workload, reason));
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
