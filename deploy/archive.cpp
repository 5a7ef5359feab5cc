#include "deploy/archive.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"

namespace lehr {
namespace {

void run_tool(const char* name, std::vector<std::string> arguments, const HostCompilerOptions& compiler) {
  constexpr double kTimeLimit = 60;
  const std::string path = find_program(name, compiler.search_path);
  if (path.empty())
    throw_environment(
        "a folder's archive needs {}, which is in none of {} (Debian: apt-get install binutils)", name,
        fmt::join(compiler.search_path, ":"));
  arguments.insert(arguments.begin(), path);
  SpawnOptions command;
  command.command = std::move(arguments);
  command.environment = {"LC_ALL=C"};
  const Captured run = run_captured(command, deadline_in(kTimeLimit), compiler.stop);
  if (!run.succeeded()) throw_environment("{} failed: {}", path, first_line(run.output));
}

}  // namespace

std::string archive_of(const std::map<std::string, std::string>& objects,
                       const HostCompilerOptions& compiler) {
  const TempDir directory(compiler.temp_base);
  const std::string archive = directory.path() + "/archive.a";
  std::vector<std::string> arguments = {"rcsD", archive};
  for (const auto& [name, bytes] : objects) {
    arguments.push_back(fmt::format("{}/{}", directory.path(), name));
    std::ofstream file(arguments.back(), std::ios::binary);
    file << bytes;
    if (!file.flush()) throw_environment("{} cannot be written", arguments.back());
  }
  run_tool("ar", std::move(arguments), compiler);
  run_tool("strip", {"--strip-unneeded", "--enable-deterministic-archives", archive}, compiler);
  std::ostringstream bytes;
  bytes << std::ifstream(archive, std::ios::binary).rdbuf();
  if (bytes.str().empty()) throw_environment("{} cannot be read", archive);
  return bytes.str();
}

}  // namespace lehr
