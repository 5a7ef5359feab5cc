#include "compiled.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "measure/system/temp_dir.h"

namespace lehr::sass {
namespace {

/// Runs a command. Returns what it prints, and its exit code.
std::pair<std::string, int> output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {"cannot run " + command, -1};
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), count);
  const int status = pclose(pipe);
  while (text.ends_with('\n')) text.pop_back();
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

/// Returns the program and 0, or the reason why it is missing and another exit code.
std::pair<std::string, int> nvdisasm() {
  static const std::pair<std::string, int> answer =
      output_of(LEHR_SOURCE_DIR "/tests/sass/nvdisasm " LEHR_BINARY_DIR "/nvdisasm");
  return answer;
}

}  // namespace

std::optional<std::string> why_no_nvdisasm() {
  const auto [text, code] = nvdisasm();
  return code == 0 ? std::nullopt : std::optional(text);
}

Listing disassembled(const std::string& cubin) {
  static const TempDir folder;
  const std::string path = folder.path() + "/kernel.cubin";
  std::ofstream(path, std::ios::binary) << cubin;
  auto [text, code] = output_of(fmt::format("{} --print-code {}", nvdisasm().first, path));
  if (code != 0) throw_environment("nvdisasm does not read a cubin of NVRTC: {}", text);
  std::vector<Instruction> function = parse(text);
  return {std::move(text), std::move(function)};
}

}  // namespace lehr::sass
