// The only file that knows NVRTC's functions, except for its version (nvrtc_library.cpp). Prototypes are
// declared by hand from the NVRTC 13.0 manual (their ABI has not changed since 11.1), so that the build is
// the same with and without a CUDA toolkit.
#include "measure/cuda/nvrtc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "measure/cuda/nvrtc_library.h"
#include "measure/system/shared_library.h"
#include "measure/system/temp_dir.h"

namespace lehr {
namespace {

using Clock = std::chrono::steady_clock;
using NvrtcResult = int;
using NvrtcProgram = struct NvrtcProgramTag*;
constexpr NvrtcResult kSuccess = 0;
constexpr NvrtcResult kOutOfMemory = 1;
constexpr NvrtcResult kInvalidOption = 5;
constexpr NvrtcResult kCompilation = 6;
constexpr NvrtcResult kCancelled = 16;

struct Functions : LibraryFunctions {
  Function<const char*(NvrtcResult)> error_string{this, "nvrtcGetErrorString"};
  Function<NvrtcResult(int*, int*)> version{this, "nvrtcVersion"};
  Function<NvrtcResult(int*)> supported_count{this, "nvrtcGetNumSupportedArchs"};
  Function<NvrtcResult(int*)> supported{this, "nvrtcGetSupportedArchs"};
  Function<NvrtcResult(NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)>
      create{this, "nvrtcCreateProgram"};
  Function<NvrtcResult(NvrtcProgram*)> destroy{this, "nvrtcDestroyProgram"};
  Function<NvrtcResult(NvrtcProgram, int, const char* const*)> compile{this, "nvrtcCompileProgram"};
  Function<NvrtcResult(NvrtcProgram, std::size_t*)> cubin_size{this, "nvrtcGetCUBINSize"};
  Function<NvrtcResult(NvrtcProgram, char*)> cubin{this, "nvrtcGetCUBIN"};
  Function<NvrtcResult(NvrtcProgram, std::size_t*)> ptx_size{this, "nvrtcGetPTXSize"};
  Function<NvrtcResult(NvrtcProgram, char*)> ptx{this, "nvrtcGetPTX"};
  Function<NvrtcResult(NvrtcProgram, std::size_t*)> log_size{this, "nvrtcGetProgramLogSize"};
  Function<NvrtcResult(NvrtcProgram, char*)> log{this, "nvrtcGetProgramLog"};
  using FlowCallback = int(void*, void*);
  NvrtcResult (*set_flow_callback)(NvrtcProgram, FlowCallback*, void*) = nullptr;  ///< missing before 12.8

  explicit Functions(const SharedLibrary& library) {
    if (const std::string_view missing = find(library.handle); !missing.empty())
      throw_environment("{} has no function {}; {}", library.path, missing, nvrtc_install_hint(std::nullopt));
    set_flow_callback =
        function_of<NvrtcResult(NvrtcProgram, FlowCallback*, void*)>(library.handle, "nvrtcSetFlowCallback");
  }
};

/// Owns one NVRTC program.
struct Program {
  const Functions& nvrtc;
  NvrtcProgram program = nullptr;
  Program(const Functions& functions, const Source& source) : nvrtc(functions) {
    const NvrtcResult result =
        nvrtc.create(&program, source.text.c_str(), (source.entry + ".cu").c_str(), 0, nullptr, nullptr);
    if (result != kSuccess)
      throw_environment("NVRTC cannot create a program: {}", nvrtc.error_string(result));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { nvrtc.destroy(&program); }

  std::string log() const {
    std::size_t size = 0;
    if (nvrtc.log_size(program, &size) != kSuccess || size == 0) return "";
    std::string text(size, '\0');
    if (nvrtc.log(program, text.data()) != kSuccess) return "";
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
};

/// NVRTC calls this between passes, and cancels if it returns 1. Once it has returned 1 it always does, as
/// NVRTC requires.
int past_deadline(void* deadline, void*) {
  return Clock::now() >= *static_cast<Clock::time_point*>(deadline) ? 1 : 0;
}

std::string first_error_line(const std::string& log) {
  std::size_t begin = 0;
  while (begin < log.size()) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
    begin = end + 1;
  }
  return std::string(first_line(log));
}

/// Returns 90 for "sm_90a".
int arch_number(const std::string& arch) {
  int number = 0;
  if (std::sscanf(arch.c_str(), "sm_%d", &number) != 1) {
    throw_user("'{}' is no CUDA architecture to compile for; expected one such as sm_80 or sm_90a", arch);
  }
  return number;
}

std::string arch_option(const std::string& arch) {
  return "--gpu-architecture=" + arch;
}

std::string identity_of(const CudaVersion& version, const std::string& arch) {
  return fmt::format("NVRTC {} {} --std=c++17", to_text(version), arch_option(arch));
}

}  // namespace

struct NvrtcCompiler::State {
  WorkerCompilerOptions options;
  SharedLibrary library;
  std::optional<Functions> functions;
  int major = 0;
  int minor = 0;
  std::optional<TempDir> directory;  ///< made by the first compile()
  std::uint64_t compiled = 0;

  /// Returns the options. --extra-device-vectorization is not one of them: the AST already says which
  /// accesses are vectors, and features are computed from the AST.
  std::vector<std::string> arguments() const {
    std::vector<std::string> arguments = {arch_option(options.arch), "--std=c++17", "-Xptxas", "-v"};
    // NVRTC's cache, since 12.9, returns results without running ptxas: the log with the spills would be
    // missing.
    if (major * 100 + minor >= 1209) arguments.push_back("--no-cache");
    return arguments;
  }

  /// Compiles a source. `take` gets the compiled program and stores its output. The result has the log and
  /// the resources, but no path.
  template <typename Take>
  Compiled compile(const Source& source, const Take& take) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point deadline = begin + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(options.time_limit_s));
    const Program program(*functions, source);
    if (functions->set_flow_callback) functions->set_flow_callback(program.program, past_deadline, &deadline);
    const std::vector<std::string> texts = arguments();
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const NvrtcResult result =
        functions->compile(program.program, static_cast<int>(pointers.size()), pointers.data());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::string log = program.log();

    const PtxasReport report = parse_ptxas_log(log, source.entry);
    const Resources resources = resources_of(report, source.launch.shared_bytes, seconds);
    if (result == kCancelled) {
      return Failure{FailureKind::kCompileTimeout,
                     fmt::format("NVRTC was stopped after {:.1f} s, its limit is {:.1f} s", seconds,
                                 options.time_limit_s),
                     resources};
    }
    if (result == kInvalidOption) {
      throw_environment("NVRTC {}.{} does not accept the options {}: {}", major, minor, fmt::join(texts, " "),
                        log);
    }
    if (result == kOutOfMemory)
      return Failure{FailureKind::kOutOfMemory, "NVRTC ran out of memory", resources};
    if (result != kSuccess) {
      const std::string first =
          result == kCompilation && !log.empty() ? first_error_line(log) : functions->error_string(result);
      return Failure{FailureKind::kCompile, first + "\n" + log, resources};
    }
    if (const auto reason = why_rejected(report)) {
      return Failure{FailureKind::kRejected, *reason + "\n" + log, resources};
    }
    take(program);
    return Binary{"", std::move(log), resources};
  }

  std::string cubin_of(const Program& program) const {
    return image_of(program, "cubin", functions->cubin_size, functions->cubin);
  }
  std::string ptx_of(const Program& program) const {
    std::string text = image_of(program, "PTX", functions->ptx_size, functions->ptx);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

 private:
  std::string image_of(const Program& program, const char* what,
                       NvrtcResult (*size_of)(NvrtcProgram, std::size_t*),
                       NvrtcResult (*get)(NvrtcProgram, char*)) const {
    std::size_t size = 0;
    NvrtcResult result = size_of(program.program, &size);
    std::string image(size, '\0');
    if (result == kSuccess) result = get(program.program, image.data());
    if (result != kSuccess) throw_environment("NVRTC gives no {}: {}", what, functions->error_string(result));
    return image;
  }
};

namespace {

SharedLibrary chosen(const WorkerCompilerOptions& options) {
  arch_number(options.arch);
  NvrtcChoice choice = choose_nvrtc(options.library_directories, installed_driver_version());
  if (!choice.library) throw_environment("no CUDA kernel can be compiled: {}", choice.reason);
  return std::move(choice.library);
}

}  // namespace

NvrtcCompiler::NvrtcCompiler(WorkerCompilerOptions options) : NvrtcCompiler(options, chosen(options)) {}

NvrtcCompiler::NvrtcCompiler(WorkerCompilerOptions options, SharedLibrary library)
    : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  const int arch = arch_number(state_->options.arch);
  state_->library = std::move(library);
  state_->functions.emplace(state_->library);
  state_->functions->version(&state_->major, &state_->minor);
  int count = 0;
  state_->functions->supported_count(&count);
  std::vector<int> supported(static_cast<std::size_t>(std::max(count, 0)));
  if (count > 0) state_->functions->supported(supported.data());
  if (std::find(supported.begin(), supported.end(), arch) == supported.end()) {
    throw_environment("NVRTC {}.{} ({}) cannot compile for {}; it knows sm_{}", state_->major, state_->minor,
                      state_->library.path, state_->options.arch, fmt::join(supported, ", sm_"));
  }
}

NvrtcCompiler::~NvrtcCompiler() = default;

std::unique_ptr<NvrtcCompiler> NvrtcCompiler::of(const std::string& identity,
                                                 const WorkerCompilerOptions& options, std::string& here) {
  std::vector<std::string> found;
  for (const NvrtcLibrary& each : installed_nvrtcs(options.library_directories)) {
    if (identity_of(each.version, options.arch) != identity) {
      found.push_back(to_text(each.version));
      continue;
    }
    load_builtins_of(each.library);
    return std::unique_ptr<NvrtcCompiler>(new NvrtcCompiler(options, each.library));
  }
  here = found.empty() ? "no NVRTC is here" : fmt::format("NVRTC {} is here", fmt::join(found, " and "));
  return nullptr;
}

std::vector<Compiled> NvrtcCompiler::compile(std::span<const Source> sources, double) {
  if (!state_->directory) state_->directory.emplace();
  std::vector<Compiled> results;
  for (const Source& source : sources) {
    results.push_back(
        compile_to(source, fmt::format("{}/{}.cubin", state_->directory->path(), state_->compiled++)));
  }
  return results;
}

Compiled NvrtcCompiler::compile_to(const Source& source, const std::string& path) {
  Compiled compiled = state_->compile(source, [&](const Program& program) {
    const std::string cubin = state_->cubin_of(program);
    std::ofstream file(path, std::ios::binary);
    file.write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
    file.close();
    if (!file) throw_write_error(path, errno);
  });
  if (auto* binary = std::get_if<Binary>(&compiled)) binary->path = path;
  return compiled;
}

std::variant<CudaImages, Failure> NvrtcCompiler::images_of(const Source& source) {
  CudaImages images;
  Compiled compiled = state_->compile(source, [&](const Program& program) {
    images.cubin = state_->cubin_of(program);
    images.ptx = state_->ptx_of(program);
  });
  if (auto* failure = std::get_if<Failure>(&compiled)) return std::move(*failure);
  images.resources = std::move(std::get<Binary>(compiled).resources);
  return images;
}

std::string NvrtcCompiler::identity() const {
  return identity_of(version(), state_->options.arch);
}

CudaVersion NvrtcCompiler::version() const {
  return {state_->major, state_->minor};
}

const std::string& NvrtcCompiler::library_path() const {
  return state_->library.path;
}

std::optional<std::string> why_no_nvrtc(const std::vector<std::string>& library_directories) {
  const NvrtcChoice choice = choose_nvrtc(library_directories, installed_driver_version());
  if (choice.library) return std::nullopt;
  return choice.reason;
}

}  // namespace lehr
