#include "deploy/export_folder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "deploy/archive.h"
#include "deploy/linked.h"
#include "deploy/runtime_library.h"
#include "deploy/shipped.h"
#include "target/archs.h"
#include "workload/slices.h"

namespace lehr {
namespace {

using Texts = std::map<std::string, std::string>;

// The library, the kernels (by their -march) and the table of their functions, for a linker.
std::string linked_archive(const std::map<std::string, Texts>& kernels, const std::string& table,
                           const HostCompilerOptions& options) {
  Texts objects;
  for (const auto& [march, texts] : kernels) {
    HostCompiler compiler(stripped(options, {"-c"}, march));
    for (auto& [name, bytes] : compiled(texts, compiler)) objects[name + ".o"] = std::move(bytes);
  }
  HostCompiler for_any(generic(options, "-c"));
  for (auto& [name, bytes] :
       compiled({{"lehr_bundle", library_text()}, {"lehr_linked", with_header(table)}}, for_any))
    objects[name + ".o"] = std::move(bytes);
  return archive_of(objects, options.search_path);
}

void add(std::vector<FolderFile>& files, std::vector<FolderFile> more) {
  for (FolderFile& file : more) files.push_back(std::move(file));
}

// What all folders have, whose manifest is this one: the table that links them, how they are built, and the
// texts that go with a manifest.
void add_sources(std::vector<FolderFile>& files, std::span<const FolderKernel> kernels,
                 const std::string& manifest) {
  add(files, sources_of(kernels));
  files.push_back({"sources/lehr_linked.cpp", linked_text(kernels, manifest)});
  files.push_back({"CMakeLists.txt", linked_cmake(kernels, HostCompiler::code_flags())});
  files.push_back({"manifest.json", manifest});
}

// A folder of sources alone.
std::vector<FolderFile> embedded(std::span<const FolderKernel> kernels, const FolderOptions& options) {
  // Those for processors are in their sources, the others in the table.
  std::vector<FolderFile> holding = sources_of(kernels);
  add(holding, libraries_of(kernels));
  const std::string manifest =
      manifest_text(kernels, holding, nullptr, options.buckets, options.tool_version);
  std::vector<FolderFile> files;
  add_sources(files, kernels, manifest);
  for (const char* path : {"include/lehr_bundle.h", "sources/lehr_bundle.cpp"})
    files.push_back({path, std::string(shipped_text(path))});
  return files;
}

}  // namespace

void check_buckets(std::span<const RebuiltKernel> kernels, std::span<const Buckets> buckets) {
  for (const Buckets& one : buckets)
    for (const std::int64_t size : one.values) {
      const bool has = std::ranges::any_of(kernels, [&](const RebuiltKernel& kernel) {
        const std::optional<Slices> slices = slices_of(kernel.workload);
        return slices && slices->field == one.field && slices->count == size;
      });
      if (!has)
        throw_user("--buckets {}={}: none of the exported kernels has that size: tune it, or leave it out",
                   one.field, size);
    }
}

namespace {

// The same, in memory: the machine code, and where newer GPUs can be served the text for their drivers.
void compile_for_gpu(FolderKernel& kernel, NvrtcCompiler& compiler) {
  Source source = kernel.rebuilt.source;
  source.text = deployed_text(kernel.rebuilt, kernel.name);
  source.entry = kernel.name;
  std::variant<CudaImages, Failure> images = compiler.images_of(source);
  if (const auto* failure = std::get_if<Failure>(&images))
    throw_environment("{}, which goes into the folder, does not compile: {}", kernel.name, failure->text);
  CudaImages& made = std::get<CudaImages>(images);
  kernel.library = std::move(made.cubin);
  // "sm_90a" is for that one alone, and so is its PTX.
  const char last = kernel.rebuilt.winner.device->limits.arch.back();
  if (last >= '0' && last <= '9') kernel.ptx = std::move(made.ptx);
  kernel.compiler = compiler.version();
}

/// Kernels by name and, those for processors, their texts by -march: the same one is compiled once.
struct Deployed {
  std::vector<FolderKernel> kernels;
  std::map<std::string, Texts> texts;
};

Deployed deployed(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers) {
  Deployed result;
  for (const RebuiltKernel& kernel : kernels) {
    const std::string name = deployed_name(kernel.source, kernel.winner.device->compiler);
    FolderKernel& one = result.kernels.emplace_back();
    one.rebuilt = kernel;
    one.name = name;
    if (is_for_gpu(one)) {
      std::string reason;
      NvrtcCompiler* const compiler = compilers.gpu(kernel, reason);
      CHECK(compiler != nullptr, "{}", reason);
      compile_for_gpu(one, *compiler);
      continue;
    }
    const std::string march = march_of(kernel);
    one.features = features_of(compilers.host(march).macros());
    result.texts[march][name] = deployed_text(kernel, name);
  }
  return result;
}

}  // namespace

std::vector<FolderFile> export_folder(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers,
                                      const FolderOptions& options) {
  Deployed all = deployed(kernels, compilers);
  if (options.embed) return embedded(all.kernels, options);
  const HostCompilerOptions& host = compilers.options().host;
  Texts libraries;
  for (const auto& [march, texts] : all.texts) {
    HostCompiler compiler(stripped(host, {}, march));
    libraries.merge(compiled(texts, compiler));
  }
  for (FolderKernel& kernel : all.kernels)
    if (!is_for_gpu(kernel)) kernel.library = libraries.at(kernel.name);
  std::vector<FolderFile> files = libraries_of(all.kernels);
  const FolderFile library = {"liblehr_bundle.so", runtime_library(host)};
  const std::string manifest =
      manifest_text(all.kernels, files, &library, options.buckets, options.tool_version);
  files.push_back(library);
  files.push_back({"liblehr_bundle.a", linked_archive(all.texts, linked_text(all.kernels, manifest), host)});
  add_sources(files, all.kernels, manifest);
  for (const ShippedFile& shipped : shipped_files())
    files.push_back({std::string(shipped.path), std::string(shipped.text)});
  return files;
}

}  // namespace lehr
