#include "apply/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "apply/branches.h"
#include "apply/match_outputs.h"
#include "apply/rewrite.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "deploy/applied_folder.h"
#include "deploy/folder_files.h"
#include "measure/system/temp_dir.h"
#include "network/constants.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

/// Field of ModelProto's metadata_props, and the keys of the tolerances there.
constexpr std::uint32_t kMetadataField = 14;
constexpr std::string_view kToleranceKey = "lehr.tolerance", kMatchToleranceKey = "lehr.match_tolerance",
                           kSizesKey = "lehr.sizes";

std::string model_in(const std::string& folder) {
  return read_bytes(std::filesystem::path(folder) / kAppliedModel);
}

std::string metadata(std::string_view key, std::string_view value) {
  return bytes_field(kMetadataField, bytes_field(1, key) + bytes_field(2, value));
}

/// Returns the value of the key `wanted`; "" if the key does not exist.
std::string_view metadata_in(std::string_view model, std::string_view wanted) {
  for (Wire wire(model); wire.next();) {
    if (wire.field() != kMetadataField) continue;
    std::string_view key, value;
    for (Wire entry(wire.bytes()); entry.next();) (entry.field() == 1 ? key : value) = entry.bytes();
    if (key == wanted) return value;
  }
  return {};
}

/// Returns the network without branches. If the network has branches, this is the branch with kernels.
std::string plain_model(const std::string& bytes) {
  auto plain = unbranched(bytes);
  return plain ? *std::move(plain) : bytes;
}

std::vector<SizeCheck> stated_sizes(std::string_view model) {
  const std::string_view text = metadata_in(model, kSizesKey);
  try {
    if (!text.empty()) return nlohmann::json::parse(text).get<std::vector<SizeCheck>>();
  } catch (const nlohmann::json::exception&) {  // written by somebody else
  }
  return {};
}

bool fits(const SizeCheck& check, const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  const auto shape = shapes.find(std::string(check.input));
  if (shape == shapes.end() || check.axis >= shape->second.size()) return false;
  const std::int64_t size = shape->second[check.axis];
  return check.least <= size && size <= check.most;
}

}  // namespace

std::optional<int> threads_of_folder(const std::string& folder) {
  try {
    const OnnxModel applied = parse_onnx(std::make_shared<const std::string>(plain_model(model_in(folder))),
                                         std::string(kAppliedModel));
    for (const OnnxNode& node : applied.nodes)
      if (node.domain == kFusedDomain)
        if (const std::int64_t threads = node.whole("threads", 0); threads > 0)
          return static_cast<int>(threads);
  } catch (const Error&) {
    // An unreadable file is not reported here: the engine loads the same file, and its verdict counts.
  }
  return std::nullopt;
}

std::string stated_tolerance_bytes(const EngineCheck& check) {
  std::string bytes;
  if (check.tolerance) bytes += metadata(kToleranceKey, fmt::format("{}", *check.tolerance));
  if (check.match_tolerance) bytes += metadata(kMatchToleranceKey, fmt::format("{}", *check.match_tolerance));
  return bytes;
}

std::string stated_sizes_bytes(std::span<const SizeCheck> checks) {
  if (checks.empty()) return {};
  return metadata(kSizesKey, nlohmann::json(std::vector<SizeCheck>(checks.begin(), checks.end())).dump());
}

bool take_stated_tolerance(const std::string& folder, EngineCheck& check) {
  const std::string bytes = model_in(folder);
  try {
    const std::string_view outputs = metadata_in(bytes, kToleranceKey),
                           matches = metadata_in(bytes, kMatchToleranceKey);
    if (!check.tolerance) {
      if (!outputs.empty()) check.tolerance = parse_number(outputs);
      if (!matches.empty()) check.match_tolerance = parse_number(matches);
    }
    return !outputs.empty() || !matches.empty();
  } catch (const Error&) {  // the engine will report what is wrong with the file
    return false;
  }
}

namespace {

/// Returns the matches that fused nodes of a written network compute. Returns an empty list if the original
/// network lacks one of these matches. Sets `library` to the name of the library.
std::vector<Replacement> replacements_in(const Network& network, const OnnxModel& written,
                                         std::string& library) {
  std::map<std::string_view, const Match*> matches;
  for (const MatchedWorkload& matched : network.matches.workloads)
    for (const Match& match : matched.matches) matches[match.output] = &match;
  std::vector<Replacement> all;
  for (const OnnxNode& node : written.nodes) {
    if (node.domain != kFusedDomain || !is_fused_operator(node.op)) continue;
    const auto match = matches.find(node.name);
    if (match == matches.end()) return {};
    all.push_back({match->second, parse_workload(node.text("workload", "")),
                   static_cast<int>(node.whole("threads", 1))});
    library = node.text("library", "");
  }
  return all;
}

}  // namespace

EngineVerdict try_folder(const Network& network, const std::string& folder, const EngineCheck& check,
                         double seconds) {
  const std::filesystem::path library = std::filesystem::path(folder) / kPluginName;
  const std::string plugin =
      std::filesystem::exists(library) ? std::filesystem::absolute(library).string() : "";
  EngineVerdict verdict = verdict_of(
      try_networks(network, {{fmt::format("{}/{}", folder, kAppliedModel), plugin}}, check, seconds, true));
  if (verdict.proof != Proof::kRight) return verdict;
  const std::string bytes = model_in(folder);
  const std::vector<SizeCheck> sizes = stated_sizes(bytes);
  const auto shapes = tried_shapes(network, check);
  if (!std::ranges::all_of(sizes, [&](const SizeCheck& each) { return fits(each, shapes); })) {
    verdict.notes.push_back(
        fmt::format("the original's nodes compute these sizes: the kernels are for {}", sizes_text(sizes)));
    return verdict;
  }
  const TempDir scratch(check.tools.scratch);
  MatchTrial trial = {plain_model(bytes), plugin, {}, scratch.path()};
  trial.outputs = all_match_outputs(network, trial.bytes);
  OnnxModel applied = parse_onnx(std::make_shared<const std::string>(trial.bytes), kAppliedModel);
  applied.folder = folder;
  ExternalFiles constants = external_files(applied);
  for (const auto& [path, source] : external_files(network.model)) constants[path] = source;
  std::vector<FolderFile> external;
  for (const auto& [path, source] : constants)
    external.push_back({.path = path, .bytes = "", .source = source});
  fill_folder(trial.folder, external);
  NodeForm form = node_form(network);
  const std::vector<Replacement> replaced = replacements_in(network, applied, form.library);
  verdict.matches = are_compared_apart(network, replaced)
                        ? compare_apart(network, replaced, form, trial, check)
                        : compare_matches(network, trial, check);
  verdict.proof = verdict.matches.proof;
  verdict.failure = verdict.matches.failure;
  return verdict;
}

}  // namespace lehr
