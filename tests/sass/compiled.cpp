#include "compiled.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "measure/system/temp_dir.h"

namespace lehr::sass {
namespace {

/// What a command prints, and its exit code.
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

/// The program, or why there is none.
std::pair<std::string, int> nvdisasm() {
  static const std::pair<std::string, int> answer =
      output_of(LEHR_SOURCE_DIR "/tests/sass/nvdisasm " LEHR_BINARY_DIR "/nvdisasm");
  return answer;
}

}  // namespace

std::optional<std::string> why_skipped() {
  if (auto reason = why_no_nvrtc()) return reason;
  const auto [text, code] = nvdisasm();
  return code == 0 ? std::nullopt : std::optional(text);
}

std::variant<Machine, Failure> compiled(NvrtcCompiler& compiler, const Source& source) {
  std::variant<CudaImages, Failure> images = compiler.images_of(source);
  if (auto* const failure = std::get_if<Failure>(&images)) return std::move(*failure);
  auto& [cubin, ptx] = std::get<CudaImages>(images);
  static const TempDir folder;
  const std::string path = folder.path() + "/kernel.cubin";
  std::ofstream(path, std::ios::binary) << cubin;
  auto [listing, code] = output_of(fmt::format("{} --print-code {}", nvdisasm().first, path));
  if (code != 0) throw_environment("nvdisasm does not read a cubin of NVRTC: {}", listing);
  Machine machine = {std::move(ptx), std::move(listing), {}};
  machine.function = parse(machine.listing);
  return machine;
}

std::int64_t configs_wanted(std::int64_t otherwise) {
  const char* const wanted = std::getenv("LEHR_SASS_CONFIGS");
  return wanted ? parse_int(wanted).value_or(otherwise) : otherwise;
}

}  // namespace lehr::sass
