#include "deploy/export_folder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "deploy/archive.h"
#include "deploy/deployment.h"
#include "deploy/linked.h"
#include "deploy/runtime_library.h"
#include "deploy/shipped.h"
#include "workload/slices.h"

namespace lehr {
namespace {

// The library, the kernels and the table of their functions, for a linker.
std::string linked_archive(Texts kernels, const std::string& table, const HostCompilerOptions& options) {
  HostCompiler for_any(generic(options, "-c"));
  kernels.merge(compiled({{"lehr_bundle", library_text()}, {"lehr_linked", with_header(table)}}, for_any));
  Texts objects;
  for (auto& [name, bytes] : kernels) objects[name + ".o"] = std::move(bytes);
  return archive_of(objects, options);
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
std::vector<FolderFile> embedded(std::span<const FolderKernel> kernels, std::span<const RebuiltSet> sets,
                                 const FolderOptions& options) {
  // Kernels that are functions are in their sources, the others in the table.
  std::vector<FolderFile> holding = sources_of(kernels);
  add(holding, libraries_of(kernels));
  const std::string manifest =
      manifest_text(kernels, sets, holding, nullptr, options.buckets, options.tool_version);
  std::vector<FolderFile> files;
  add_sources(files, kernels, manifest);
  for (const char* path : {"include/lehr_bundle.h", "sources/lehr_bundle.cpp"})
    files.push_back({path, std::string(shipped_text(path))});
  return files;
}

}  // namespace

bool can_hold(const RebuiltKernel& kernel, FolderCompilers& compilers, const FolderOptions& options) {
  return (options.embed && deployment_of(kernel.source.target).source_alone) || !compilers.why_not(kernel);
}

void check_buckets(std::span<const RebuiltKernel> kernels, std::span<const Buckets> buckets) {
  for (const Buckets& one : buckets)
    for (const std::int64_t size : one.values) {
      const bool has = std::ranges::any_of(kernels, [&](const RebuiltKernel& kernel) {
        const std::optional<Slices> slices = slices_of(kernel.workload);
        return kernel.source.most_rows == 0 && slices && slices->field == one.field && slices->count == size;
      });
      if (!has)
        throw_user("--buckets {}={}: none of the exported kernels has that size: tune it, or leave it out",
                   one.field, size);
    }
}

namespace {

std::vector<FolderKernel> prepared(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers,
                                   bool embed) {
  std::vector<FolderKernel> result;
  for (const RebuiltKernel& kernel : kernels) {
    FolderKernel& one = result.emplace_back();
    one.rebuilt = kernel;
    one.name = deployed_name(kernel.source, kernel.winner.device->compiler);
    one.source_alone = embed && deployment_of(one).source_alone && compilers.why_not(kernel).has_value();
    if (!one.source_alone) deployment_of(one).prepare(one, compilers);
  }
  return result;
}

std::vector<FolderKernel*> those_for(Target target, std::span<FolderKernel> kernels) {
  std::vector<FolderKernel*> its_own;
  for (FolderKernel& kernel : kernels)
    if (kernel.rebuilt.source.target == target) its_own.push_back(&kernel);
  return its_own;
}

}  // namespace

std::vector<FolderFile> export_folder(std::span<const RebuiltKernel> kernels,
                                      std::span<const RebuiltSet> sets, FolderCompilers& compilers,
                                      const FolderOptions& options) {
  std::vector<FolderKernel> all = prepared(kernels, compilers, options.embed);
  if (options.embed) return embedded(all, sets, options);
  const HostCompilerOptions& host = compilers.options().host;
  Texts objects;
  for (const Target target : kTargets) {
    const std::vector<FolderKernel*> its_own = those_for(target, all);
    deployment_of(target).compile(its_own, compilers);
    objects.merge(deployment_of(target).objects(its_own, compilers));
  }
  std::vector<FolderFile> files = libraries_of(all);
  const FolderFile library = {"liblehr_bundle.so", runtime_library(host)};
  const std::string manifest =
      manifest_text(all, sets, files, &library, options.buckets, options.tool_version);
  files.push_back(library);
  files.push_back({"liblehr_bundle.a", linked_archive(std::move(objects), linked_text(all, manifest), host)});
  add_sources(files, all, manifest);
  for (const ShippedFile& shipped : shipped_files())
    files.push_back({std::string(shipped.path), std::string(shipped.text)});
  return files;
}

}  // namespace lehr
