#include "deploy/runtime_library.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace lehr {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file || bytes.str().empty()) throw_environment("{} cannot be read", path);
  return bytes.str();
}

// The lowest level of the architecture. All processors of the architecture have it.
constexpr const char* kBaseOfAll =
#if defined(__aarch64__)
    "armv8-a";
#else
    "x86-64";
#endif

}  // namespace

Texts compiled(const Texts& texts, HostCompiler& compiler) {
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

HostCompilerOptions stripped(HostCompilerOptions options, const std::vector<std::string>& flags,
                             const Isa& isa) {
  options.isa = isa;
  options.extra_flags.push_back("-s");
  options.extra_flags.insert(options.extra_flags.end(), flags.begin(), flags.end());
  return options;
}

HostCompilerOptions generic(const HostCompilerOptions& compiler, const char* more) {
  return stripped(compiler,
                  {"-mtune=generic", "-std=c++20", "-fvisibility=hidden", "-pthread", "-DNDEBUG", more},
                  isa_named(kBaseOfAll));
}

}  // namespace lehr
