// Source text -> binary.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "codegen/source.h"
#include "measure/core/time_left.h"
#include "record/outcome.h"

namespace lehr {

/// A compiled candidate. CPU: path of a shared object that lives as long as the compiler object. CUDA: path
/// of a cubin.
struct Binary {
  std::string path;
  std::string log;  ///< the compiler's own words
  Resources resources;
};
using Compiled = std::variant<Binary, Failure>;

inline constexpr const char* kCompiledTooLate = "the time was up while it was compiled";

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// One result per source, same order; in parallel where that pays. May be called by several threads at
  /// once. What is not compiled after `most_s` seconds is ended, and is kInterrupted: the time says nothing
  /// of it. Throws Error(kEnvironment) only when the compiler itself is missing or broken.
  virtual std::vector<Compiled> compile(std::span<const Source> sources, double most_s) = 0;
  std::vector<Compiled> compile(std::span<const Source> sources) { return compile(sources, kNoLimitS); }
  /// From now on the object files of what is compiled are kept, up to so many bytes; where one is there, its
  /// text is not compiled again.
  virtual void keep_objects([[maybe_unused]] std::int64_t most_bytes) {}
  /// Path of the object file that was kept of this text, which the compiler owns; "": none was.
  virtual std::string kept_object(const Source&) const { return ""; }
  /// "g++ 12.2.0 -O2 -march=native ..." or "NVRTC 13.0 --gpu-architecture=sm_90a ...": part of the device's
  /// identity.
  virtual std::string identity() const = 0;
};

struct WorkerCompilerOptions {
  std::string arch;  ///< a real architecture, "sm_90a": registers and spills are known for those only
  /// Searched after the loader's own path (Backend::library_folders).
  std::vector<std::string> library_directories = {};
  /// Wall time of one compilation, in seconds. The library is asked to give up where it can be;
  /// CompileWorkers kills what does not stop.
  double time_limit_s = 60;
  friend bool operator==(const WorkerCompilerOptions&, const WorkerCompilerOptions&) = default;
};

/// A compiler that is a library and compiles in this process, one source after the other and for one thread:
/// CompileWorkers (measure/worker/compile_workers.h) runs several, each in a worker process of its own.
class WorkerCompiler : public Compiler {
 public:
  /// One source, whose binary goes to `path`.
  virtual Compiled compile_to(const Source& source, const std::string& path) = 0;
};

}  // namespace lehr
