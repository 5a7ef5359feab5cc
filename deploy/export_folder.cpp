#include "deploy/export_folder.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "deploy/shipped.h"
#include "workload/slices.h"

namespace lehr {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file || bytes.str().empty()) throw_environment("{} cannot be read", path);
  return bytes.str();
}

// The shared objects of these texts, by the same names.
std::map<std::string, std::string> compiled(const std::map<std::string, std::string>& texts,
                                            HostCompiler& compiler) {
  std::vector<Source> sources;
  for (const auto& [name, text] : texts) sources.emplace_back().text = text;
  const std::vector<Compiled> results = compiler.compile(sources);
  std::map<std::string, std::string> libraries;
  auto result = results.begin();
  for (const auto& [name, text] : texts) {
    if (const auto* failure = std::get_if<Failure>(&*result))
      throw_environment("{}, which goes into the folder, does not compile: {}", name, failure->text);
    libraries[name] = bytes_of(std::get<Binary>(*result++).path);
  }
  return libraries;
}

// Without symbols that nobody asks for, among them the name of a temporary file.
HostCompilerOptions stripped(HostCompilerOptions options, std::vector<std::string> flags = {}) {
  options.extra_flags.push_back("-s");
  options.extra_flags.insert(options.extra_flags.end(), flags.begin(), flags.end());
  return options;
}

// The base of the architecture, whatever this machine has: the last -march counts.
const std::vector<std::string> kLibraryFlags = {
#if defined(__aarch64__)
    "-march=armv8-a",
#else
    "-march=x86-64", "-mtune=generic",
#endif
    "-std=c++20", "-fvisibility=hidden", "-pthread", "-Wl,-soname,liblehr_bundle.so"};

std::string runtime_library(const HostCompilerOptions& compiler) {
  std::string text(shipped_text("sources/lehr_bundle.cpp"));
  constexpr std::string_view kInclude = "#include \"lehr_bundle.h\"\n";
  text.replace(text.find(kInclude), kInclude.size(), shipped_text("include/lehr_bundle.h"));
  HostCompiler generic(stripped(compiler, kLibraryFlags));
  return compiled({{"liblehr_bundle.so", text}}, generic).at("liblehr_bundle.so");
}

}  // namespace

std::optional<std::string> why_not_in_folder(const RebuiltKernel& kernel, const std::string& identity) {
  const StoredDevice& device = *kernel.winner.device;
  if (!device.limits.target.has(Feature::kTasks))
    return fmt::format(
        "a folder has kernels for CPUs, and it is for {}: a path that ends in .json takes its source",
        device.limits.target->title);
  if (device.compiler != identity)
    return fmt::format("it was measured with another compiler ({}) than is here ({}): export it there",
                       device.compiler, identity);
  return std::nullopt;
}

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

std::vector<FolderFile> export_folder(std::span<const RebuiltKernel> kernels, const FolderOptions& options) {
  HostCompiler compiler(stripped(options.compiler));
  std::vector<FolderKernel> deployed;
  std::map<std::string, std::string> texts;  // by name: the same kernel is compiled once
  for (const RebuiltKernel& kernel : kernels) {
    const std::string name = deployed_name(kernel.source, compiler.identity());
    deployed.push_back({kernel, name, {}});
    texts[name] = deployed_text(kernel.source, name);
  }
  const std::map<std::string, std::string> libraries = compiled(texts, compiler);
  for (FolderKernel& kernel : deployed) kernel.library = libraries.at(kernel.name);
  const std::vector<FolderFile> loaded = libraries_of(deployed);
  const FolderFile library = {"liblehr_bundle.so", runtime_library(options.compiler)};
  std::vector<FolderFile> files = loaded;
  files.push_back(library);
  for (FolderFile& source : sources_of(deployed)) files.push_back(std::move(source));
  for (const ShippedFile& shipped : shipped_files())
    files.push_back({std::string(shipped.path), std::string(shipped.text)});
  files.push_back({"manifest.json", manifest_text(deployed, features_of(compiler.macros()), loaded, library,
                                                  options.buckets, options.tool_version)});
  return files;
}

}  // namespace lehr
