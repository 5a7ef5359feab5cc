// Compiles C++ source to a shared object, with the system's compiler.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "measure/core/compiler.h"
#include "target/isa.h"

namespace lehr {

struct HostCompilerOptions {
  /// Name or path of the compiler, or several words: "ccache g++". "": the first of c++, g++ and clang++ that
  /// is found.
  std::string compiler;
  /// The caller's PATH.
  std::vector<std::string> search_path = {"/usr/local/bin", "/usr/bin", "/bin"};
  /// The instruction set to compile for.
  Isa isa = {};
  /// Number of compilations at once; 0: one per allowed CPU.
  int jobs = 0;
  /// Limit of one compilation in seconds of wall time. After it the compiler's process group is killed. The
  /// kernel limits each of the group's processes to the same processor time, so that no process goes on if
  /// this program was killed.
  double time_limit_s = 30;
  /// Limit of the private memory of each of the compiler's processes, in bytes. A process that needs 4 GiB is
  /// a runaway.
  std::int64_t memory_bytes = std::int64_t{4} << 30;
  /// Folder of the private directory; "": as TempDir chooses.
  std::string temp_base;
  /// Once true, nothing more is compiled; nullptr: never.
  const std::atomic<bool>* stop = nullptr;
  /// Flags that are added after ours.
  std::vector<std::string> extra_flags;
};

/// Compiles with the flags `-O2` (GCC 12's -O3 miscompiles plain copy loops and is not faster for explicit
/// vector code), `-march=native` or another level, and `-ffp-contract=fast -fno-math-errno`. Exceptions,
/// unwind tables, start files and libstdc++ are left out, since the emitted code never needs them. That saves
/// about a tenth of the 80-100 ms per candidate, most of which is GCC's own work.
/// A call of the compiler compiles one source. A sample of sources of four tasks takes 0.18 to 0.37 s of
/// processor time each, of which 0.045 s start driver, compiler, assembler and linker (2 CPUs of an EPYC,
/// busy, 2026-11-28). Sixteen sources per call would save 6 to 14 %. As one file they would save 7 to 42 %,
/// and 2 of 48 kernels would get different code. But then sixteen configs are picked without knowing each
/// other's results, and one source that fails makes all sixteen fail. A precompiled prelude would save
/// nothing: it contains no header, and GCC reads it in no measurable time.
class HostCompiler : public Compiler {
 public:
  /// Throws Error(kEnvironment) with one sentence if no compiler is found, or if the compiler cannot build a
  /// shared object.
  explicit HostCompiler(HostCompilerOptions options = {});
  ~HostCompiler() override;
  HostCompiler(const HostCompiler&) = delete;
  HostCompiler& operator=(const HostCompiler&) = delete;

  /// Compiles sources. Binaries are stored in a private directory, which is removed with this object. Throws
  /// Error(kEnvironment) if the disk is full, because that is not a candidate's fault.
  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override;
  using Compiler::compile;
  void keep_objects(std::int64_t most_bytes) override;
  std::string kept_object(const Source& source) const override;
  /// Returns "g++ (Debian 12.2.0-14+deb12u1) 12.2.0 -O2 -march=native ... [native=sapphirerapids/1f2e3d4c]".
  /// The part in brackets is there for native only. It names the CPU for which the compiler takes native,
  /// with a hash of all instruction sets that this switches on.
  std::string identity() const override;
  /// Returns the flags that affect the generated code, except for the instruction set.
  static std::vector<std::string> code_flags();
  /// Returns the names of the macros that the compiler defines for its instruction set, such as "__AVX2__".
  /// The compiler is run once for this. Call it from one thread at a time. Throws Error(kEnvironment).
  const std::vector<std::string>& macros() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr
