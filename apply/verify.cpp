#include "apply/verify.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "apply/match_outputs.h"
#include "apply/rewrite.h"
#include "base/error.h"
#include "base/text.h"
#include "deploy/applied_folder.h"
#include "deploy/folder_files.h"
#include "measure/system/temp_dir.h"
#include "network/constants.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

/// ModelProto's metadata_props, and the keys of the tolerances there.
constexpr std::uint32_t kMetadataField = 14;
constexpr std::string_view kToleranceKey = "lehr.tolerance", kMatchToleranceKey = "lehr.match_tolerance";

std::string model_in(const std::string& folder) {
  return read_bytes(std::filesystem::path(folder) / kAppliedModel);
}

}  // namespace

std::optional<int> threads_of_folder(const std::string& folder) {
  try {
    const OnnxModel applied = read_onnx(fmt::format("{}/{}", folder, kAppliedModel));
    for (const OnnxNode& node : applied.nodes)
      if (node.domain == kFusedDomain)
        if (const std::int64_t threads = node.whole("threads", 0); threads > 0)
          return static_cast<int>(threads);
  } catch (const Error&) {
    // The engine is asked for the same file, and what it says counts.
  }
  return std::nullopt;
}

std::string stated_tolerance_bytes(const EngineCheck& check) {
  std::string bytes;
  const auto state = [&](std::string_view key, const std::optional<double>& tolerance) {
    if (tolerance)
      bytes +=
          bytes_field(kMetadataField, bytes_field(1, key) + bytes_field(2, fmt::format("{}", *tolerance)));
  };
  state(kToleranceKey, check.tolerance);
  state(kMatchToleranceKey, check.match_tolerance);
  return bytes;
}

bool take_stated_tolerance(const std::string& folder, EngineCheck& check) {
  const bool given = check.tolerance.has_value();
  bool states = false;
  const std::string bytes = model_in(folder);
  try {
    for (Wire wire(bytes); wire.next();) {
      if (wire.field() != kMetadataField) continue;
      std::string_view key, value;
      for (Wire entry(wire.bytes()); entry.next();) (entry.field() == 1 ? key : value) = entry.bytes();
      if (key != kToleranceKey && key != kMatchToleranceKey) continue;
      states = true;
      if (!given) (key == kToleranceKey ? check.tolerance : check.match_tolerance) = parse_number(value);
    }
  } catch (const Error&) {  // the engine says what is wrong with it
  }
  return states;
}

EngineVerdict try_folder(const Network& network, const std::string& folder, const EngineCheck& check,
                         double seconds) {
  const std::filesystem::path library = std::filesystem::path(folder) / kPluginName;
  const std::string plugin =
      std::filesystem::exists(library) ? std::filesystem::absolute(library).string() : "";
  EngineVerdict verdict = verdict_of(
      try_networks(network, {{fmt::format("{}/{}", folder, kAppliedModel), plugin}}, check, seconds, true));
  if (verdict.proof != Proof::kRight) return verdict;
  const TempDir scratch(check.tools.scratch);
  MatchTrial trial = {model_in(folder), plugin, {}, scratch.path()};
  trial.outputs = all_match_outputs(network, trial.bytes);
  std::vector<FolderFile> external;
  for (const auto& [path, source] : external_files(network.model))
    external.push_back({.path = path, .bytes = "", .source = source});
  fill_folder(trial.folder, external);
  verdict.matches = compare_matches(network, trial, check);
  verdict.proof = verdict.matches.proof, verdict.failure = verdict.matches.failure;
  return verdict;
}

}  // namespace lehr
