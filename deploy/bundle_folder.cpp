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
#include "deploy/bundle_json.h"
#include "runtime/cpu_features.h"
#include "runtime/manifest.h"
#include "runtime/sha256.h"
#include "deploy/self_test.h"
#include "deploy/shipped.h"
#include "ir/uses.h"
#include "workload/operator.h"
#include "workload/slices.h"

namespace lehr {
namespace {

using nlohmann::json;

// Old name and new name of every function of a source.
std::vector<std::pair<std::string, std::string>> renamed(const Source& source, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> names = {{source.entry, name}};
  if (source.launch.prepack_tasks > 0) names.push_back({prepack_entry(source.entry), prepack_entry(name)});
  for (std::size_t i = 0; i < source.then.size(); ++i)
    names.push_back({source.then[i].entry, fmt::format("{}_then{}", name, i + 1)});
  return names;
}

std::string sha256_of(std::string_view bytes) {
  runtime::Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex().data();
}

// What a processor of today needs for vectors at their best, and what GPUs' workspaces are promised
// (codegen/source.h). Tensors need no more than their elements, on a GPU than its widest loads.
constexpr std::int64_t kPackedAlignment = 64, kWorkspaceAlignment = 256, kGpuAlignment = 16;

std::int64_t alignment_of(const SourceParam& param, bool gpu) {
  if (param.direction == ir::Direction::kPrepacked) return kPackedAlignment;
  if (param.direction == ir::Direction::kWorkspace) return kWorkspaceAlignment;
  return gpu ? kGpuAlignment : size_of(param.type);
}

// As the driver is told of it.
json tensor_map_of(const SourceParam& param) {
  const CudaTensorMapArguments map = arguments_of(*param.map, param.type);
  const auto first = [&](const auto& values, std::size_t count) {
    return std::vector(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  };
  json document = {{"type", map.type},
                   {"dims", first(map.dims, map.rank)},
                   {"stride_bytes", first(map.stride_bytes, map.rank - 1)},
                   {"steps", first(map.steps, map.rank)},
                   {"swizzle", map.swizzle}};
  if (map.im2col)
    document.update(
        {{"channels", map.channels}, {"pixels", map.pixels}, {"lower", map.lower}, {"upper", map.upper}});
  else
    document["box"] = first(map.box, map.rank);
  return document;
}

json params_of(const RebuiltKernel& kernel, bool gpu) {
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
                      {"alignment", alignment_of(param, gpu)},
                      {"slice_bytes", slice}});
    if (param.map) params.back()["tensor_map"] = tensor_map_of(param);
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

json launch_of(const FolderKernel& kernel) {
  const ir::Launch& launch = kernel.rebuilt.source.launch;
  json document = {{"grid", launch.grid},
                   {"block", launch.block},
                   {"cluster", launch.cluster},
                   {"shared_bytes", launch.shared_bytes},
                   {"programmatic", launch.programmatic},
                   {"multiprocessors", kernel.rebuilt.winner.device->limits.cores},
                   {"compiler", {kernel.compiler.major, kernel.compiler.minor}}};
  if (!kernel.ptx.empty()) document["ptx"] = ptx_path(kernel);
  return document;
}

json steps_of(const Source& source, const std::string& name) {
  const auto names = renamed(source, name);
  json steps = {{{"entry", names[0].second}, {"tasks", source.launch.tasks}}};
  for (std::size_t i = 0; i < source.then.size(); ++i)
    steps.push_back(
        {{"entry", names[names.size() - source.then.size() + i].second}, {"tasks", source.then[i].tasks}});
  return steps;
}

// Kernels whose function of that name is the same share what it makes. Told by the text from there to the
// next function: a prelude that only one of them needs is no difference.
std::string prepack_layout(const Source& source) {
  const std::size_t begin = source.text.find(prepack_entry(source.entry) + "(");
  const std::size_t end = source.text.find("\nextern \"C\"", begin);
  CHECK(begin != std::string::npos, "{} has no function named {}", source.entry, prepack_entry(source.entry));
  std::string layout = source.text.substr(begin, end == std::string::npos ? end : end - begin);
  for (const std::int64_t bytes : prepacked_bytes(source)) layout += fmt::format(" {}", bytes);
  return to_hex(stable_hash(layout));
}

bool is_bucket(const Slices& slices, std::span<const Buckets> buckets) {
  return std::ranges::any_of(buckets, [&](const Buckets& one) {
    return one.field == slices.field && std::ranges::find(one.values, slices.count) != one.values.end();
  });
}

// Which parameters a kernel's prepack reads, by their number.
std::vector<int> prepack_reads(const ir::Kernel& kernel) {
  const ir::Uses uses = ir::uses_of(kernel, kernel.prepack);
  std::vector<int> reads;
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    if (kernel.params[i].direction == ir::Direction::kIn &&
        uses.buffers[static_cast<std::size_t>(kernel.params[i].buffer)])
      reads.push_back(static_cast<int>(i));
  return reads;
}

// What a manifest with these members says of a kernel for a processor, in a number.
std::uint64_t call_hash_of(const RebuiltKernel& kernel, const std::string& name) {
  const Source& source = kernel.source;
  const auto names = renamed(source, name);
  std::vector<runtime::ManifestParam> params;
  for (const SourceParam& param : source.params) {
    runtime::ManifestParam& one = params.emplace_back();
    one.name = param.name;
    one.dtype = name_of(param.type);
    CHECK(runtime::role_named(ir::name_of(param.direction), one.role), "a manifest has no such role");
    one.bytes = static_cast<std::uint64_t>(param.elements * size_of(param.type));
    one.alignment = static_cast<std::uint32_t>(alignment_of(param, false));
  }
  std::vector<runtime::ManifestStep> steps = {
      {names[0].second, static_cast<std::uint64_t>(source.launch.tasks)}};
  for (std::size_t i = 0; i < source.then.size(); ++i)
    steps.push_back({names[names.size() - source.then.size() + i].second,
                     static_cast<std::uint64_t>(source.then[i].tasks)});
  runtime::ManifestKernel said;
  said.params = static_cast<std::uint32_t>(params.size());
  said.steps = static_cast<std::uint32_t>(steps.size());
  said.scratch_bytes = static_cast<std::uint64_t>(source.scratch_bytes);
  const std::string prepack = prepack_entry(name);
  if (source.launch.prepack_tasks > 0) {
    said.prepack = {prepack, static_cast<std::uint64_t>(source.launch.prepack_tasks)};
    for (const int read : prepack_reads(kernel.kernel)) said.prepack_reads |= std::uint64_t{1} << read;
  }
  return runtime::call_hash(said, params.data(), steps.data());
}

// What only kernels for processors have.
void add_cpu(const FolderKernel& kernel, json& document) {
  const Source& source = kernel.rebuilt.source;
  document["steps"] = steps_of(source, kernel.name);
  if (source.launch.prepack_tasks > 0)
    document["prepack"] = {{"entry", prepack_entry(kernel.name)},
                           {"tasks", source.launch.prepack_tasks},
                           {"layout", prepack_layout(source)},
                           {"reads", prepack_reads(kernel.rebuilt.kernel)}};
  if (const std::optional<SelfTest> test = self_test_of(kernel.rebuilt.workload))
    document["self_test"] = {{"tolerance", test->tolerance}, {"output", test->output}};
}

json to_json(const FolderKernel& kernel, std::span<const Buckets> buckets) {
  const RebuiltKernel& rebuilt = kernel.rebuilt;
  const StoredDevice& device = *rebuilt.winner.device;
  const bool gpu = is_for_gpu(kernel);
  json document = lehr::to_json(rebuilt.winner);
  document.update({{"name", kernel.name},
                   {"defaults", words_by_default(rebuilt.workload)},
                   {"shorter", shorter_words(rebuilt.workload)},
                   {"machine", gpu ? "" : std::string(runtime::cpu_machine())},
                   {"features", kernel.features},
                   {"file", kernel.library.empty() ? source_path(kernel) : library_path(kernel)},
                   {"source", source_path(kernel)},
                   {"threads", gpu ? 0 : device.limits.cores},
                   {"cold", device.cold},
                   {"scratch_bytes", rebuilt.source.scratch_bytes},
                   {"params", params_of(rebuilt, gpu)}});
  if (gpu)
    document["launch"] = launch_of(kernel);
  else
    add_cpu(kernel, document);
  if (const std::optional<Slices> slices = slices_of(rebuilt.workload))
    document["slices"] = {{"field", std::string(slices->field)},
                          {"size", slices->count},
                          {"bucket", is_bucket(*slices, buckets)}};
  return document;
}

std::string_view macro_of(std::string_view feature) {
  for (std::size_t i = 0; i < runtime::cpu_feature_count(); ++i)
    if (runtime::cpu_feature(i).name == feature) return runtime::cpu_feature(i).macro;
  CHECK(false, "no processor feature is named {}", feature);
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

std::string deployed_text(const RebuiltKernel& kernel, const std::string& name) {
  std::string text;
  for (const auto& [before, after] : renamed(kernel.source, name))
    text += fmt::format("#define {} {}\n", before, after);
  if (kernel.source.target.has(Feature::kTasks))
    text += fmt::format(
        "extern \"C\" {{\nextern const unsigned long long {0}_call;\nconst unsigned long long {0}_call = "
        "{1}u;\n}}\n",
        name, call_hash_of(kernel, name));
  return text + kernel.source.text;
}

std::vector<std::string> deployed_functions(const Source& source, const std::string& name) {
  std::vector<std::string> names;
  for (auto& [before, after] : renamed(source, name)) names.push_back(std::move(after));
  return names;
}

bool is_for_gpu(const FolderKernel& kernel) {
  return !kernel.rebuilt.source.target.has(Feature::kTasks);
}

std::string library_path(const FolderKernel& kernel) {
  return fmt::format("kernels/{}.{}", kernel.name, is_for_gpu(kernel) ? "cubin" : "so");
}
std::string source_path(const FolderKernel& kernel) {
  return fmt::format("sources/{}.{}", kernel.name, is_for_gpu(kernel) ? "cu" : "cpp");
}
std::string ptx_path(const FolderKernel& kernel) {
  return fmt::format("kernels/{}.ptx", kernel.name);
}

std::vector<std::string> features_of(std::span<const std::string> macros) {
  std::vector<std::string> features;
  for (std::size_t i = 0; i < runtime::cpu_feature_count(); ++i) {
    const runtime::CpuFeature& feature = runtime::cpu_feature(i);
    if (std::ranges::find(macros, feature.macro) != macros.end()) features.emplace_back(feature.name);
  }
  return features;
}

std::vector<std::string> feature_flags(std::span<const std::string> features) {
#if defined(__aarch64__)
  return {fmt::format("-march=armv8-a{}{}", features.empty() ? "" : "+", fmt::join(features, "+"))};
#else
  std::vector<std::string> flags = {"-march=x86-64"};
  for (const std::string& feature : features) flags.push_back("-m" + feature);
  return flags;
#endif
}

std::string words_by_default(const Workload& workload) {
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
  return fmt::format("{}", fmt::join(shorter, " "));
}

std::string manifest_text(std::span<const FolderKernel> kernels, std::span<const FolderFile> files,
                          const FolderFile* library, std::span<const Buckets> buckets,
                          std::string_view tool_version) {
  json hashes = json::object(), documents = json::array();
  for (const FolderFile& file : files) hashes[file.path] = sha256_of(file.bytes);
  for (const FolderKernel& kernel : kernels) documents.push_back(to_json(kernel, buckets));
  const std::string digits(64, '0');
  json document = {{"format", std::string(runtime::kManifestFormat)},
                   {"version", runtime::kManifestVersion},
                   {"tool_version", std::string(tool_version)},
                   {"files", std::move(hashes)},
                   {"kernels", std::move(documents)}};
  if (library != nullptr) document["library"] = {{library->path, sha256_of(library->bytes)}};
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

std::vector<FolderFile> sources_of(std::span<const FolderKernel> kernels) {
  std::vector<FolderFile> files;
  for (const FolderKernel& kernel : first_of_each_name(kernels)) {
    std::string guard;
    for (const std::string& feature : kernel.features)
      guard += fmt::format("#ifndef {0}\n#error \"compile this for processors with {1}\"\n#endif\n",
                           macro_of(feature), feature);
    files.push_back({source_path(kernel), guard + deployed_text(kernel.rebuilt, kernel.name)});
  }
  return files;
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

std::optional<FileList> loaded_files(const std::string& path) {
  const std::optional<json> manifest = manifest_of(path);
  if (!manifest) return std::nullopt;
  FileList files = {{"manifest.json", std::nullopt}};
  const json hashes = manifest->value("files", json());
  for (const auto& [name, hash] : hashes.items()) files[name];
  return files;
}

std::optional<FileList> bundle_own_files(const std::string& path) {
  std::optional<FileList> files = loaded_files(path);
  if (!files) return std::nullopt;
  for (const char* name :
       {"CMakeLists.txt", "sources/lehr_linked.cpp", "liblehr_bundle.so", "liblehr_bundle.a"})
    (*files)[name];
  for (const ShippedFile& shipped : shipped_files()) (*files)[std::string(shipped.path)];
  const json kernels = manifest_of(path)->value("kernels", json());
  for (const json& kernel : kernels)
    if (kernel.is_object() && kernel.value("source", json()).is_string()) (*files)[kernel["source"]];
  return files;
}

}  // namespace lehr
