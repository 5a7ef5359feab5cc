// Compiles and links a library, and writes its other files.
#include "deploy/library.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "deploy/deployment.h"
#include "deploy/kernel_json.h"
#include "deploy/runtime_library.h"
#include "deploy/shipped.h"
#include "measure/host/processor_features.h"
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"
#include "target/isa.h"

namespace lehr {
namespace {

bool is_function(const FolderKernel& kernel) {
  return kernel.rebuilt.source.target.has(Feature::kHostFunction);
}

/// Returns the text of a kernel for processors. The names of its functions begin with the library's name.
std::string kernel_text(const FolderKernel& kernel, const Library& library) {
  return renamed_text(kernel.rebuilt.source, fmt::format("{}_{}", library.options.name, kernel.name));
}

/// The binutils, with a folder for their files.
class Tools {
 public:
  explicit Tools(const HostCompilerOptions& options) : options_(options), directory_(options.temp_base) {}

  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream file(path(name), std::ios::binary);
    file << bytes;
    if (!file.flush()) throw_environment("{} cannot be written", path(name));
    return path(name);
  }
  void run(const char* name, std::vector<std::string> arguments) const {
    constexpr double kTimeLimit = 120;
    const std::string program = find_program(name, options_.search_path);
    if (program.empty())
      throw_environment("a library needs {}, which is in none of {} (Debian: apt-get install binutils)", name,
                        fmt::join(options_.search_path, ":"));
    arguments.insert(arguments.begin(), program);
    SpawnOptions command;
    command.command = std::move(arguments);
    command.environment = {"LC_ALL=C"};
    const Captured run = run_captured(command, deadline_in(kTimeLimit), options_.stop);
    if (!run.succeeded()) throw_environment("{} failed: {}", program, first_line(run.output));
  }

 private:
  const HostCompilerOptions& options_;
  TempDir directory_;
};

/// Returns the object files of the kernels for processors, by the names of the files. Object files that
/// tuning has kept are used; the other kernels are compiled in the same way. In each, the functions are
/// renamed after the kernel.
Texts kernel_objects(const Library& library, FolderCompilers& compilers) {
  std::map<std::string, Texts> by_isa;
  Texts objects;
  for (const FolderKernel& kernel : first_of_each_name(library.kernels)) {
    if (!is_function(kernel)) continue;
    const RebuiltKernel& rebuilt = kernel.rebuilt;
    const std::string file = kernel.name + ".o", kept = compilers.kept_object(rebuilt);
    if (kept.empty())
      by_isa[name_of(isa_of_identity(rebuilt.winner.device->compiler))][file] = rebuilt.source.text;
    else
      objects[file] = read_bytes(kept);
  }
  for (const auto& [isa, texts] : by_isa) {
    HostCompiler compiler(stripped(compilers.options().host, {"-c"}, isa_named(isa)));
    objects.merge(compiled(texts, compiler));
  }
  const Tools tools(compilers.options().host);
  for (const FolderKernel& kernel : first_of_each_name(library.kernels)) {
    if (!is_function(kernel)) continue;
    std::string& object = objects.at(kernel.name + ".o");
    std::vector<std::string> words = {"--strip-unneeded"};
    const std::string name = fmt::format("{}_{}", library.options.name, kernel.name);
    for (const auto& [before, after] : renamed_functions(kernel.rebuilt.source, name))
      words.push_back(fmt::format("--redefine-sym={}={}", before, after));
    words.insert(words.end(), {tools.write("kernel.o", object), tools.path("renamed.o")});
    tools.run("objcopy", words);
    object = read_bytes(tools.path("renamed.o"));
  }
  return objects;
}

/// Returns the shared and the static library. Both consist of one object, into which all objects are joined.
/// Names that are not public are hidden, and the groups of inline functions are dissolved, since two
/// libraries in a program may have the same inline functions.
std::pair<std::string, std::string> linked(const Texts& objects, const Library& library,
                                           const HostCompilerOptions& options) {
  const Tools tools(options);
  const std::string& name = library.options.name;
  std::vector<std::string> join = {"-r", "--force-group-allocation", "-o", tools.path("joined.o")};
  for (const auto& [file, bytes] : objects) join.push_back(tools.write(file, bytes));
  tools.run("ld", join);
  const std::string whole = tools.path(name + ".o"), archive = tools.path("lib.a");
  const std::string names = tools.write("names", fmt::format("{}\n", fmt::join(public_names(library), "\n")));
  tools.run("objcopy", {"--strip-unneeded", "--remove-section=.comment", "--keep-global-symbols=" + names,
                        tools.path("joined.o"), whole});
  tools.run("ar", {"rcsD", archive, whole});
  HostCompiler linker(stripped(
      options,
      {whole, "-pthread", "-Wl,-z,nodelete", "-Wl,-z,noexecstack", fmt::format("-Wl,-soname,lib{}.so", name)},
      {}));
  return {compiled({{name, ""}}, linker).at(name), read_bytes(archive)};
}

std::string sources_cmake(const Library& library) {
  const std::string& name = library.options.name;
  std::string sources, options;
  std::map<std::vector<std::string>, std::string> by_features;
  for (const FolderKernel& kernel : first_of_each_name(library.kernels)) {
    if (!is_function(kernel)) continue;
    sources += fmt::format("\n  {}.cpp", kernel.name);
    by_features[kernel.features] += fmt::format("\n  {}.cpp", kernel.name);
  }
  for (const auto& [features, files] : by_features)
    options +=
        fmt::format("set_source_files_properties({}\n  PROPERTIES COMPILE_OPTIONS \"{};{}\")\n", files,
                    fmt::join(HostCompiler::code_flags(), ";"), fmt::join(feature_flags(features), ";"));
  return fmt::format(
      "# add_subdirectory() of this folder gives {0}::sources: the library, compiled here (C++20, GCC or "
      "clang; linked it\n# needs libc alone).\n"
      "cmake_minimum_required(VERSION 3.22)\n"
      "project({0}_sources CXX)\n"
      "find_package(Threads REQUIRED)\n"
      "{2}"
      "add_library({0}_sources STATIC {0}.cpp{1})\n"
      "target_compile_features({0}_sources PRIVATE cxx_std_20)\n"
      "target_compile_options({0}_sources PRIVATE -fno-exceptions -fno-rtti -fvisibility=hidden)\n"
      "set_target_properties({0}_sources PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
      "target_include_directories({0}_sources PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n"
      "target_link_libraries({0}_sources PUBLIC Threads::Threads ${{CMAKE_DL_LIBS}})\n"
      "add_library({0}::sources ALIAS {0}_sources)\n",
      name, sources, options);
}

std::string guarded_text(const FolderKernel& kernel, const Library& library) {
  std::string guard;
  for (const std::string& feature : kernel.features)
    guard += fmt::format("#ifndef {0}\n#error \"compile this for processors with {1}\"\n#endif\n",
                         macro_of(feature), feature);
  return guard + kernel_text(kernel, library);
}

std::string manifest_of(const Library& library) {
  nlohmann::json functions = nlohmann::json::array();
  for (const LibraryFunction& function : library.functions) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const LibraryVariant& row : function.variants)
      for (const auto& [position, to] : row.members) {
        const FolderKernel& kernel = library.kernels[position];
        nlohmann::json document = to_json(kernel.rebuilt.winner);
        document.update({{"threads", is_function(kernel) ? kernel.rebuilt.winner.device->limits.cores : 0},
                         {"cold", kernel.rebuilt.winner.device->cold},
                         {"features", kernel.features},
                         {"source", source_path(kernel)}});
        if (to > 0) document["rows_to"] = to;
        kernels.push_back(std::move(document));
      }
    functions.push_back({{"name", fmt::format("{}_{}", library.options.name, function.name)},
                         {"workload", function.text},
                         {"target", name_of(function.target)},
                         {"kernels", std::move(kernels)}});
  }
  const nlohmann::json document = {{"format", "lehr-library"},
                                   {"name", library.options.name},
                                   {"tool_version", library.options.tool_version},
                                   {"functions", std::move(functions)}};
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Returns a text for CMake or Python with the library's name in place of each word "kernels". In these texts
/// the word stands only for the name.
std::string named_throughout(std::string_view text, const std::string& name) {
  constexpr std::string_view kName = "kernels";
  std::string result;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(kName, at)) != std::string_view::npos; at = found + kName.size())
    result.append(text.substr(at, found - at)).append(name);
  return result.append(text.substr(at));
}

void add_texts(const Library& library, const std::string& header, const std::string& code,
               std::vector<FolderFile>& files) {
  const std::string& name = library.options.name;
  files.push_back({name + ".h", header});
  files.push_back({fmt::format("sources/{}.h", name), header});
  files.push_back({fmt::format("sources/{}.cpp", name), fmt::format("#include \"{}.h\"\n{}", name, code)});
  files.push_back({"sources/CMakeLists.txt", sources_cmake(library)});
  for (const FolderKernel& kernel : first_of_each_name(library.kernels))
    files.push_back({source_path(kernel), is_function(kernel)
                                              ? guarded_text(kernel, library)
                                              : renamed_text(kernel.rebuilt.source, kernel.name)});
  files.push_back({"manifest.json", manifest_of(library)});
  for (const char* path : {"kernelsConfig.cmake", "kernels.py", "python/pyproject.toml", "python/setup.py"}) {
    files.push_back({named_throughout(path, name), named_throughout(shipped_text(path), name)});
  }
}

}  // namespace

std::vector<FolderFile> library_files(const Library& library, FolderCompilers& compilers) {
  const HostCompilerOptions& host = compilers.options().host;
  const std::string& name = library.options.name;
  const std::string header = with_name(header_text(library), name),
                    code = with_name(code_text(library), name);
  // Except for the kernels, this is the text that takes longest to compile.
  std::future<Texts> runtime = std::async(std::launch::async, [&] {
    HostCompiler for_any(generic(host, "-c"));
    return compiled({{name + ".library.o", header + code}}, for_any);
  });
  Texts objects = kernel_objects(library, compilers);
  objects.merge(runtime.get());
  auto [shared, archive] = linked(objects, library, host);
  std::vector<FolderFile> files;
  files.push_back({fmt::format("lib{}.so", name), std::move(shared)});
  files.push_back({fmt::format("lib{}.a", name), std::move(archive)});
  add_texts(library, header, code, files);
  return files;
}

std::vector<FolderFile> shared_library_file(const Library& library, FolderCompilers& compilers) {
  return {library_files(library, compilers).at(0)};
}

}  // namespace lehr
