#include "program.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/error.h"

namespace lehr::emulator {
namespace {

// -fsanitize=thread calls a hook before every access to memory that another thread could see; contraction is
// off so that the result does not depend on the host's instruction set; locals start as a pattern, never as a
// lucky zero.
constexpr const char* kFlags =
    "-std=c++17 -O1 -fPIC -w -fno-strict-aliasing -ffp-contract=off -fsanitize=thread "
    "-ftrivial-auto-var-init=pattern";

/// Drops the functions of the prelude whose body is inline PTX. They begin in the first column and end with
/// "}" there.
std::string without_ptx(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  std::string function;  // the one that is being read
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const bool begins = line.starts_with("__device__") || line.starts_with("template");
    if (!inside && !begins) {
      result += line + "\n";
      continue;
    }
    function += line + "\n";
    inside = line != "}" && !line.ends_with("; }");
    if (inside) continue;
    if (function.find("asm volatile") == std::string::npos) result += function;
    function.clear();
  }
  return result + function;
}

struct TemporaryDirectory {
  std::filesystem::path path;
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lehr-emulator-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw_environment("cannot make a directory in {}", pattern);
    path = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void execute(const std::string& command, const std::filesystem::path& log) {
  if (std::system((command + " > '" + log.string() + "' 2>&1").c_str()) == 0) return;
  std::ifstream file(log);
  std::stringstream words;
  words << file.rdbuf();
  throw_environment("the emulated text does not compile: {}\n{}", command, words.str());
}

}  // namespace

struct Program::Library {
  TemporaryDirectory directory;
  void* handle = nullptr;
  ~Library() {
    if (handle) dlclose(handle);
  }
};

std::string translate(const Source& source, std::size_t index) {
  std::string call;
  for (std::size_t i = 0; i < source.params.size(); ++i) {
    call += fmt::format("{}(float*)arguments[{}]", i == 0 ? "" : ", ", i);
  }
  // The caller reads the array of pointers, which is no memory of the kernel: no hooks there.
  return fmt::format(
      R"(#include "tests/emulator/device.h"
#define {0} {0}_{1}
{2}
extern "C" __attribute__((no_sanitize("thread"))) void emulated_entry_{1}(void* const* arguments) {{
  {0}({3});
}}
)",
      source.entry, index, without_ptx(source.text), call);
}

Program::Program(std::span<const Source> sources)
    : sources_(sources.begin(), sources.end()), library_(std::make_unique<Library>()) {
  const std::filesystem::path& directory = library_->directory.path;
  std::string objects;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    CHECK(sources_[i].target == Target::kCuda, "source {} is not CUDA", i);
    std::ofstream(directory / fmt::format("{}.cpp", i)) << translate(sources_[i], i);
    objects += fmt::format(" '{}/{}.o'", directory.string(), i);
  }
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> errors(sources_.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < sources_.size(); i = next++) {
      try {
        const std::string stem = (directory / std::to_string(i)).string();
        execute(fmt::format("'{}' {} -I'{}' -c '{}.cpp' -o '{}.o'", LEHR_EMULATOR_CXX, kFlags,
                            LEHR_SOURCE_DIR, stem, stem),
                stem + ".log");
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  {
    const std::jthread helper(work);
    work();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  // Linked without -fsanitize=thread: hooks.cpp takes the place of the sanitizer's run time.
  const std::string library = (directory / "kernels.so").string();
  execute(fmt::format("'{}' -shared -o '{}'{}", LEHR_EMULATOR_CXX, library, objects), directory / "link.log");
  library_->handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_->handle) throw_environment("{}", dlerror());
}

Program::~Program() = default;

Result Program::run(std::size_t index, const std::vector<std::vector<float>>& inputs, Order order) const {
  const Source& source = sources_.at(index);
  std::vector<GlobalBuffer> buffers;
  std::vector<void*> arguments;
  std::size_t input = 0;
  buffers.reserve(source.params.size());
  for (const SourceParam& param : source.params) {
    const bool output = param.direction == ir::Direction::kOut;
    const std::vector<float> empty(output ? static_cast<std::size_t>(param.elements) : 0);
    const std::vector<float>& values = output ? empty : inputs.at(input++);
    CHECK(static_cast<std::int64_t>(values.size()) == param.elements, "{} has {} elements, not {}",
          param.name, param.elements, values.size());
    buffers.emplace_back(param.name, values, output);
    arguments.push_back(buffers.back().data());
  }
  const auto entry = reinterpret_cast<void (*)(void* const*)>(
      dlsym(library_->handle, fmt::format("emulated_entry_{}", index).c_str()));
  CHECK(entry != nullptr);
  Result run;
  Machine machine(buffers, source.launch, order);
  run.fault = machine.run([&] { entry(arguments.data()); });
  run.shared = machine.shared_traffic();
  run.barriers = machine.barriers();
  for (const GlobalBuffer& buffer : buffers) {
    run.traffic.push_back(buffer.traffic);
    if (buffer.output()) run.outputs.push_back(buffer.values());
  }
  return run;
}

}  // namespace lehr::emulator
