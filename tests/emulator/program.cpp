#include "program.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "measure/core/element.h"
#include "target/dialect.h"

namespace lehr::emulator {
namespace {

// -fsanitize=thread calls a hook before every access to memory that another thread could see. Contraction is
// off, so that the result does not depend on the host's instruction set. Local variables start as a pattern
// and not by chance as zero. Without -fno-ivopts the compiler takes a quarter longer.
constexpr const char* kFlags =
    "-std=c++17 -O1 -fno-ivopts -fPIC -w -fno-strict-aliasing -ffp-contract=off -fsanitize=thread "
    "-ftrivial-auto-var-init=pattern";
/// Kernels per translation unit. They share the time that the compiler takes to start.
constexpr std::size_t kPerUnit = 4;

/// Takes the place of CUtensorMap. The machine knows the map of the parameter.
struct alignas(64) OpaqueMap {
  std::uint64_t param = 0;
  std::uint64_t rest[15] = {};
};

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

void execute(const std::string& command, const std::string& log) {
  if (std::system((command + " > '" + log + "' 2>&1").c_str()) == 0) return;
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

namespace {

/// Returns a source as a part of a translation unit: in a namespace of its own, with lines counted from the
/// source's first line, and with a caller `emulated_entry_<index>` that takes the arguments as an array of
/// pointers.
std::string translate(const Source& source, std::size_t index) {
  std::string call;
  for (std::size_t i = 0; i < source.params.size(); ++i) {
    call += i == 0 ? "" : ", ";
    call += source.params[i].map ? fmt::format("*(LehrTensorMap*)arguments[{}]", i)
                                 : fmt::format("({}*)arguments[{}]", scalar_name(source.params[i].type), i);
  }
  // The caller reads the array of pointers, which is not memory of the kernel. So it has no hooks.
  return fmt::format(
      R"(namespace emulated_{1} {{
extern unsigned char lehr_shared[] __asm__("lehr_shared");
#define {0} {0}_{1}
#line 1 "{0}_{1}"
{2}
extern "C" __attribute__((no_sanitize("thread"))) void emulated_entry_{1}(void* const* arguments) {{
  {0}({3});
}}
#undef {0}
}}
)",
      source.entry, index, source.text, call);
}

/// Runs work(0) to work(count - 1) on two threads. Throws the first of their exceptions.
void on_two_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> errors(count);
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  {
    const std::jthread helper(loop);
    loop();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace

Program::Program(std::span<const Source> sources, Count count)
    : sources_(sources.begin(), sources.end()), library_(std::make_unique<Library>()) {
  const std::string directory = library_->directory.path.string();
  const std::size_t units = (sources_.size() + kPerUnit - 1) / kPerUnit;
  std::string objects;
  for (std::size_t unit = 0; unit < units; ++unit) {
    std::ofstream text(fmt::format("{}/{}.cpp", directory, unit));
    text << (count == Count::kFlops ? "#define LEHR_COUNT_FLOPS\n" : "")
         << "#include \"tests/emulator/device.h\"\n";
    for (std::size_t i = unit * kPerUnit; i < std::min((unit + 1) * kPerUnit, sources_.size()); ++i) {
      CHECK(sources_[i].target == Target::kCuda, "source {} is not CUDA", i);
      text << translate(sources_[i], i);
    }
    objects += fmt::format(" '{}/{}.o'", directory, unit);
  }
  on_two_threads(units, [&](std::size_t unit) {
    const std::string stem = fmt::format("{}/{}", directory, unit);
    execute(fmt::format("'{}' {} -I'{}' -c '{}.cpp' -o '{}.o'", LEHR_EMULATOR_CXX, kFlags, LEHR_SOURCE_DIR,
                        stem, stem),
            stem + ".log");
  });
  // Linked without -fsanitize=thread, because hooks.cpp takes the place of the sanitizer's run time.
  const std::string library = directory + "/kernels.so";
  execute(fmt::format("'{}' -shared -o '{}'{}", LEHR_EMULATOR_CXX, library, objects),
          directory + "/link.log");
  library_->handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_->handle) throw_environment("{}", dlerror());
}

Program::~Program() = default;

namespace {

GlobalBuffer::Role role_of(ir::Direction direction) {
  switch (direction) {
    case ir::Direction::kIn:
      return GlobalBuffer::Role::kInput;
    case ir::Direction::kOut:
      return GlobalBuffer::Role::kOutput;
    case ir::Direction::kPrepacked:  // not on CUDA
    case ir::Direction::kWorkspace:
      break;
  }
  return GlobalBuffer::Role::kWorkspace;
}

/// Collects the traffic of all parameters, and the values of the outputs.
void collect(const Source& source, const std::vector<GlobalBuffer>& buffers, Result& result) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    result.traffic.push_back(buffers[i].traffic);
    if (buffers[i].role() != GlobalBuffer::Role::kOutput) continue;
    const std::span<const unsigned char> bytes = buffers[i].bytes();
    result.output_bytes.emplace_back(bytes.begin(), bytes.end());
    std::vector<float>& values = result.outputs.emplace_back();
    for (std::int64_t element = 0; element < source.params[i].elements; ++element)
      values.push_back(static_cast<float>(load_element(source.params[i].type, bytes.data(), element)));
  }
}

}  // namespace

Result Program::run(std::size_t index, const std::vector<std::vector<float>>& inputs,
                    const Schedule& schedule) const {
  std::vector<std::vector<unsigned char>> bytes;
  for (const SourceParam& param : sources_.at(index).params) {
    if (param.direction != ir::Direction::kIn) continue;
    const std::vector<float>& values = inputs.at(bytes.size());
    CHECK(static_cast<std::int64_t>(values.size()) == param.elements, "{} has {} elements, not {}",
          param.name, param.elements, values.size());
    bytes.emplace_back(values.size() * static_cast<std::size_t>(size_of(param.type)));
    store_elements(param.type, values, bytes.back().data());
  }
  return run_bytes(index, bytes, schedule);
}

Result Program::run_bytes(std::size_t index, const std::vector<std::vector<unsigned char>>& inputs,
                          const Schedule& schedule) const {
  const Source& source = sources_.at(index);
  std::vector<GlobalBuffer> buffers;
  std::vector<void*> arguments;
  std::size_t input = 0;
  int granule = 4;
  buffers.reserve(source.params.size());
  std::vector<OpaqueMap> maps(source.params.size());
  for (const SourceParam& param : source.params) {
    const int size = size_of(param.type);
    granule = std::min(granule, size);
    std::vector<unsigned char> bytes(static_cast<std::size_t>(param.elements * size));
    if (param.direction == ir::Direction::kIn) {
      CHECK(inputs.at(input).size() == bytes.size(), "{} has {} bytes, not {}", param.name, bytes.size(),
            inputs.at(input).size());
      bytes = inputs.at(input++);
    }
    buffers.emplace_back(param.name, bytes, size, role_of(param.direction));
    buffers.back().map = param.map;
    maps[arguments.size()].param = arguments.size();
    arguments.push_back(param.map ? static_cast<void*>(&maps[arguments.size()]) : buffers.back().data());
  }
  const auto entry = reinterpret_cast<void (*)(void* const*)>(
      dlsym(library_->handle, fmt::format("emulated_entry_{}", index).c_str()));
  CHECK(entry != nullptr);
  const auto launch = [&](const Schedule& order) {
    for (GlobalBuffer& buffer : buffers) buffer.begin_launch();
    Result result;
    Machine machine(buffers, source.launch, granule, order);
    result.fault = machine.run([&] { entry(arguments.data()); });
    result.shared = machine.shared_traffic();
    result.barriers = machine.barriers();
    result.flops = machine.flops();
    collect(source, buffers, result);
    return result;
  };
  Result result = launch(schedule);
  if (result.fault || workspace_bytes(source).empty()) return result;
  // The second launch runs on the workspace that the first one left, with the blocks in another order.
  const bool reverse = schedule.order == Order::kReverse;
  Result second = launch({reverse ? Order::kRandom : Order::kReverse, schedule.seed});
  if (!second.fault && second.output_bytes != result.output_bytes)
    second.fault = "the second launch on the same workspace has another result than the first";
  return second;
}

}  // namespace lehr::emulator
