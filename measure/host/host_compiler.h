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
  /// Name or path, or several words: "ccache g++"; "": the first of c++, g++, clang++ that is found.
  std::string compiler;
  /// The caller's PATH.
  std::vector<std::string> search_path = {"/usr/local/bin", "/usr/bin", "/bin"};
  /// The instruction set to compile for.
  Isa isa = {};
  /// Compilations at once; 0: one per allowed CPU.
  int jobs = 0;
  /// Seconds of one compilation, wall time. Then its process group is killed. The kernel also limits each of
  /// its processes to this much processor time, so that none spins on if this program was killed.
  double time_limit_s = 30;
  /// Private memory of each of its processes: one that needs 4 GiB is a runaway.
  std::int64_t memory_bytes = std::int64_t{4} << 30;
  /// Folder of the private directory; "": as TempDir chooses.
  std::string temp_base;
  /// Once it is true nothing more is compiled; nullptr: never.
  const std::atomic<bool>* stop = nullptr;
  /// Flags after ours.
  std::vector<std::string> extra_flags;
};

/// Compiles with the flags `-O2`, `-march=native` or another one (GCC 12's -O3 miscompiles plain copy loops
/// and is not faster on explicit vector code), `-ffp-contract=fast -fno-math-errno`; no exceptions, unwind
/// tables, start files or libstdc++, which the emitted code never needs: that saves about a tenth of 80-100
/// ms per candidate (most of it is GCC's own work).
/// A call compiles one source. Of 0.18 to 0.37 s of processor time for a sample of one of four tasks, 0.045 s
/// are the starts of driver, compiler, assembler and linker (2 CPUs of an EPYC, busy, 2026-11-28). Sixteen
/// sources per call save 6 to 14 %, as one file 7 to 42 %, and then 2 of 48 kernels have other code; but then
/// so many are picked without each other's results, and one that fails takes the others along. A precompiled
/// prelude would save nothing: there is no header in it, and GCC reads it in no measurable time.
class HostCompiler : public Compiler {
 public:
  /// Throws Error(kEnvironment) with one sentence if no compiler is found or it cannot build a shared object.
  explicit HostCompiler(HostCompilerOptions options = {});
  ~HostCompiler() override;
  HostCompiler(const HostCompiler&) = delete;
  HostCompiler& operator=(const HostCompiler&) = delete;

  /// Compiles sources. Binaries are in a private directory that is removed with this object. Throws
  /// Error(kEnvironment) if the disk is full, which is not a candidate's fault.
  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override;
  using Compiler::compile;
  void keep_objects(std::int64_t most_bytes) override;
  std::string kept_object(const Source& source) const override;
  /// Returns "g++ (Debian 12.2.0-14+deb12u1) 12.2.0 -O2 -march=native ... [native=sapphirerapids/1f2e3d4c]".
  /// The last part, which only native has, names what the compiler made of native, with a hash of all the
  /// instruction sets that it switched on.
  std::string identity() const override;
  /// Returns the flags that decide which code is made, without the instruction set.
  static std::vector<std::string> code_flags();
  /// Returns the names of the macros that the compiler defines for its instruction set, as "__AVX2__". It is
  /// asked once, by one thread at a time. Throws Error(kEnvironment).
  const std::vector<std::string>& macros() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr
