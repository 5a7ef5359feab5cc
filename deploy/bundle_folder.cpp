#include "deploy/bundle_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/dtype.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "codegen/source_hash.h"
#include "deploy/deployment.h"
#include "deploy/kernel_json.h"
#include "measure/host/processor_features.h"
#include "runtime/manifest.h"
#include "runtime/sha256.h"
#include "workload/operator.h"
#include "workload/slices.h"

namespace lehr {
namespace {

using nlohmann::json;

// Old name and new name of every function of a source.
std::vector<std::pair<std::string, std::string>> renamed(const Source& source, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> names = {{source.entry, name}};
  if (source.launch.prepack_parts > 0) names.push_back({prepack_entry(source.entry), prepack_entry(name)});
  for (std::size_t i = 0; i < source.then.size(); ++i)
    names.push_back({source.then[i].entry, fmt::format("{}_then{}", name, i + 1)});
  return names;
}

std::string sha256_of(std::string_view bytes) {
  runtime::Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex().data();
}

json params_of(const RebuiltKernel& kernel) {
  const std::optional<Slices> slices = slices_of(kernel.workload);
  const std::vector<TensorSpec> tensors = tensors_of(kernel.workload);
  json params = json::array();
  std::size_t tensor = 0;
  for (const SourceParam& param : kernel.source.params) {
    const std::int64_t element = size_of(param.type);
    const bool is_tensor = param.direction == ir::Direction::kIn || param.direction == ir::Direction::kOut;
    const std::int64_t slice = slices && is_tensor ? slices->elements.at(tensor) * element : 0;
    params.push_back({{"name", param.name},
                      {"dtype", std::string(name_of(param.type))},
                      {"role", std::string(ir::name_of(param.direction))},
                      {"bytes", param.elements * element},
                      {"alignment", alignment_of(param, kernel.source.target)},
                      {"slice_bytes", slice}});
    if (is_tensor && tensors.at(tensor).constant) params.back()["constant"] = true;
    if (is_tensor && tensors.at(tensor).is_output())
      for (const Dimension& one : output_shape(kernel.workload)) {
        params.back()["shape"].push_back(one.size);
        params.back()["strides"].push_back(one.stride);
      }
    tensor += is_tensor;
  }
  return params;
}

// Any library reads it.
constexpr std::uint64_t kVersionWithoutRows = 1;

json to_json(const FolderKernel& kernel) {
  const RebuiltKernel& rebuilt = kernel.rebuilt;
  const StoredDevice& device = *rebuilt.winner.device;
  const Deployment& target = deployment_of(kernel);
  const bool has_threads = device.limits.target.has(Feature::kChosenCores);
  json document = lehr::to_json(rebuilt.winner);
  document.update({{"name", kernel.name},
                   {"defaults", optional_words(rebuilt.workload)},
                   {"shorter", shorter_words(rebuilt.workload)},
                   {"machine", std::string(target.machine())},
                   {"features", kernel.features},
                   {"file", library_path(kernel)},
                   {"threads", has_threads ? device.limits.cores : 0},
                   {"cold", device.cold},
                   {"scratch_bytes", rebuilt.source.scratch_bytes},
                   {"params", params_of(rebuilt)}});
  if (rebuilt.source.most_rows > 0)
    document.update({{"rows", rebuilt.source.most_rows}, {"workload", to_text(rebuilt.workload)}});
  target.describe(kernel, document);
  if (const std::optional<Slices> slices = slices_of(rebuilt.workload))
    document["slices"] = {{"field", std::string(slices->field)}, {"size", slices->count}, {"bucket", false}};
  return document;
}

json to_json(const RebuiltSet& set, std::span<const FolderKernel> kernels) {
  const Gemm& gemm = set.workload.gemm();
  json members = json::array(), times = json::array();
  for (const auto& [kernel, to] : set.members) members.push_back({{"kernel", kernel}, {"to", to}});
  for (const auto& [rows, us] : set.times) times.push_back({rows, us});
  return {{"workload", to_text(set.workload)},
          {"defaults", optional_words(set.workload)},
          {"shorter", shorter_words(set.workload)},
          {"field", "m"},
          {"least", std::max<std::int64_t>(gemm.least, 1)},
          {"most", gemm.m},
          {"threads", kernels[set.members[0].kernel].rebuilt.winner.device->limits.cores},
          {"members", members},
          {"times", times}};
}

std::vector<std::string> words_of(const Workload& workload) {
  const std::string text = to_text(workload);
  const std::vector<std::string_view> words = split(text, ' ');
  return {words.begin(), words.end()};
}

bool is_text_of(const Workload& workload, const std::vector<std::string>& words) {
  try {
    return parse_workload(fmt::format("{}", fmt::join(words, " "))) == workload;
  } catch (const Error&) {
    return false;
  }
}

std::optional<json> manifest_of(const std::string& folder) {
  std::ifstream file(folder + "/manifest.json");
  json document = json::parse(file, nullptr, false);
  if (!document.is_object() || document.value("format", json()) != std::string(runtime::kManifestFormat))
    return std::nullopt;
  return document;
}

}  // namespace

std::string deployed_name(const Source& source, std::string_view compiler) {
  return fmt::format("{}_{}", source.entry, to_hex(hash_combine(hash_of(source), stable_hash(compiler))));
}

std::vector<FolderKernel> prepared(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers) {
  std::vector<FolderKernel> all;
  for (const RebuiltKernel& kernel : kernels) {
    FolderKernel& one = all.emplace_back();
    one.rebuilt = kernel;
    one.name = deployed_name(kernel.source, kernel.winner.device->compiler);
    deployment_of(one).prepare(one, compilers);
  }
  return all;
}

std::string renamed_text(const Source& source, const std::string& name) {
  std::string text;
  for (const auto& [before, after] : renamed(source, name))
    text += fmt::format("#define {} {}\n", before, after);
  return text + source.text;
}

std::string deployed_text(const RebuiltKernel& kernel, const std::string& name) {
  return deployment_of(kernel.source.target).text_before(kernel, name) + renamed_text(kernel.source, name);
}

std::vector<std::string> deployed_functions(const Source& source, const std::string& name) {
  std::vector<std::string> names;
  for (auto& [before, after] : renamed(source, name)) names.push_back(std::move(after));
  return names;
}

std::string library_path(const FolderKernel& kernel) {
  return fmt::format("kernels/{}.{}", kernel.name, deployment_of(kernel).library_suffix);
}
std::string source_path(const FolderKernel& kernel) {
  return fmt::format("sources/{}.{}", kernel.name, deployment_of(kernel).source_suffix);
}
std::string ptx_path(const FolderKernel& kernel) {
  return fmt::format("kernels/{}.ptx", kernel.name);
}

std::string optional_words(const Workload& workload) {
  std::vector<std::string> words = words_of(workload);
  std::vector<std::string> left_out;
  // From the end: what goes without saying may follow from what comes before it.
  for (std::size_t i = words.size(); i-- > 1;) {
    std::vector<std::string> without = words;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (!is_text_of(workload, without)) continue;
    left_out.push_back(words[i]);
    words = std::move(without);
  }
  return fmt::format("{}", fmt::join(left_out, " "));
}

std::string shorter_words(const Workload& workload) {
  const std::vector<std::string> words = words_of(workload);
  std::vector<std::string> shorter;
  for (std::size_t i = 1; i < words.size(); ++i) {
    for (std::size_t end = words[i].find('=') + 1; end < words[i].size(); ++end) {
      if (words[i][end] != 'x' && words[i][end] != ':') continue;
      std::vector<std::string> other = words;
      other[i].resize(end);
      if (is_text_of(workload, other)) shorter.push_back(other[i]);
    }
  }
  // A field that the text leaves out may be said with its usual value.
  for (const Field& field : operator_of(workload).fields) {
    std::vector<std::string> other = words;
    other.push_back(fmt::format("{}={}", field.key, field.usual));
    const bool is_there = std::ranges::any_of(
        words, [&](const std::string& word) { return word.starts_with(fmt::format("{}=", field.key)); });
    if (!is_there && !field.usual.empty() && is_text_of(workload, other)) shorter.push_back(other.back());
  }
  return fmt::format("{}", fmt::join(shorter, " "));
}

std::string manifest_text(std::span<const FolderKernel> kernels, std::span<const RebuiltSet> sets,
                          std::span<const FolderFile> files, std::string_view tool_version) {
  json hashes = json::object(), documents = json::array();
  for (const FolderFile& file : files) hashes[file.path] = sha256_of(file.bytes);
  for (const FolderKernel& kernel : kernels) documents.push_back(to_json(kernel));
  const std::string digits(64, '0');
  json document = {{"format", std::string(runtime::kManifestFormat)},
                   {"version", sets.empty() ? kVersionWithoutRows : runtime::kManifestVersionOfRows},
                   {"tool_version", std::string(tool_version)},
                   {"files", std::move(hashes)},
                   {"kernels", std::move(documents)}};
  for (const RebuiltSet& set : sets) document["sets"].push_back(to_json(set, kernels));
  std::string text = document.dump(1, ' ', false, json::error_handler_t::replace);
  // The last member, as the runtime looks for it.
  text.replace(text.rfind("\n}"), 2, fmt::format(",\n \"sha256\": \"{}\"\n}}\n", digits));
  text.replace(text.rfind(digits), digits.size(), sha256_of(text));
  return text;
}

std::vector<std::reference_wrapper<const FolderKernel>> first_of_each_name(
    std::span<const FolderKernel> kernels) {
  std::set<std::string_view> seen;
  std::vector<std::reference_wrapper<const FolderKernel>> first;
  for (const FolderKernel& kernel : kernels)
    if (seen.insert(kernel.name).second) first.push_back(kernel);
  return first;
}

std::vector<FolderFile> libraries_of(std::span<const FolderKernel> kernels) {
  std::vector<FolderFile> files;
  for (const FolderKernel& kernel : first_of_each_name(kernels)) {
    if (!kernel.library.empty()) files.push_back({library_path(kernel), kernel.library});
    if (!kernel.ptx.empty()) files.push_back({ptx_path(kernel), kernel.ptx});
  }
  return files;
}

bool is_bundle_folder(const std::string& path) {
  return manifest_of(path).has_value();
}

}  // namespace lehr
