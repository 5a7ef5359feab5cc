// Compiles source text to a binary.
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

/// A compiled candidate. For a CPU `path` is a shared object, which lives as long as the compiler object. For
/// CUDA `path` is a cubin.
struct Binary {
  std::string path;
  std::string log;  ///< the compiler's output
  Resources resources;
};
using Compiled = std::variant<Binary, Failure>;

inline constexpr const char* kCompiledTooLate = "the time was up while it was compiled";

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Compiles sources, in parallel if that pays, and returns one result per source in their order. Several
  /// threads may call it at once. After `most_s` seconds all compilations that still run are stopped. They
  /// count as kInterrupted, because the limit says nothing about the source. Throws Error(kEnvironment) only
  /// if the compiler itself is missing or broken.
  virtual std::vector<Compiled> compile(std::span<const Source> sources, double most_s) = 0;
  std::vector<Compiled> compile(std::span<const Source> sources) { return compile(sources, kNoLimitS); }
  /// Keeps object files from now on, up to `most_bytes` in all. A source whose object is kept is not compiled
  /// again.
  virtual void keep_objects([[maybe_unused]] std::int64_t most_bytes) {}
  /// Returns the path of the object file kept for a source; "": no object is kept. The compiler owns the
  /// file.
  virtual std::string kept_object(const Source&) const { return ""; }
  /// Returns the compiler's version and options: "g++ 12.2.0 -O2 -march=native ..." or "NVRTC 13.0
  /// --gpu-architecture=sm_90a ...". This text is a part of the device's identity.
  virtual std::string identity() const = 0;
};

struct WorkerCompilerOptions {
  /// The architecture to compile for, such as "sm_90a". It must be a real architecture, because a compilation
  /// for a virtual architecture ("compute_90a") reports neither registers nor spills.
  std::string arch;
  /// Folders that are searched after the loader's own path (Backend::library_folders).
  std::vector<std::string> library_directories = {};
  /// Limit of one compilation, in seconds of wall time. The library is asked to stop if that is possible. A
  /// compilation that does not stop is killed by CompileWorkers.
  double time_limit_s = 60;
  friend bool operator==(const WorkerCompilerOptions&, const WorkerCompilerOptions&) = default;
};

/// A compiler that is a library. It compiles one source after the other in this process. Only one thread may
/// use it. CompileWorkers (measure/worker/compile_workers.h) runs several of them, each in a worker process
/// of its own.
class WorkerCompiler : public Compiler {
 public:
  /// Compiles one source to the file `path`.
  virtual Compiled compile_to(const Source& source, const std::string& path) = 0;
};

}  // namespace lehr
