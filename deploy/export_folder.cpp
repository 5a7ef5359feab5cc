#include "deploy/export_folder.h"

#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "deploy/shipped.h"

namespace lehr {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file || bytes.str().empty()) throw_environment("{} cannot be read", path);
  return bytes.str();
}

// The shared objects of these texts, in their order.
std::vector<std::string> compiled(std::span<const std::string> texts, HostCompiler& compiler) {
  std::vector<Source> sources(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) sources[i].text = texts[i];
  std::vector<std::string> libraries;
  for (const Compiled& result : compiler.compile(sources)) {
    if (const auto* failure = std::get_if<Failure>(&result))
      throw_environment("a kernel that was measured no longer compiles: {}", failure->text);
    libraries.push_back(bytes_of(std::get<Binary>(result).path));
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
  return compiled(std::array{text}, generic)[0];
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

std::vector<FolderFile> export_folder(std::span<const RebuiltKernel> kernels, const FolderOptions& options) {
  HostCompiler compiler(stripped(options.compiler));
  const std::vector<std::string> features = features_of(compiler.macros());
  std::vector<FolderKernel> deployed;
  std::vector<std::string> texts;
  for (const RebuiltKernel& one : kernels) {
    const StoredDevice& device = *one.winner.device;
    deployed.push_back({one.workload,
                        one.winner,
                        one.source,
                        prepack_reads(one.kernel),
                        device.limits.cores,
                        device.cold,
                        features,
                        {}});
    texts.push_back(deployed_text(one.source));
  }
  const std::vector<std::string> libraries = compiled(texts, compiler);
  for (std::size_t i = 0; i < libraries.size(); ++i) deployed[i].library = libraries[i];
  const std::vector<FolderFile> loaded = libraries_of(deployed);
  const FolderFile library = {"liblehr_bundle.so", runtime_library(options.compiler)};
  std::vector<FolderFile> files = loaded;
  files.push_back(library);
  for (FolderFile& source : sources_of(deployed)) files.push_back(std::move(source));
  for (const ShippedFile& shipped : shipped_files())
    files.push_back({std::string(shipped.path), std::string(shipped.text)});
  files.push_back(
      {"manifest.json", manifest_text(deployed, loaded, library, options.buckets, options.tool_version)});
  return files;
}

}  // namespace lehr
