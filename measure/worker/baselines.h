// How vendor libraries' worker processes are started: threads, and the variants worth trying.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lehr {

struct BaselineVariant {
  std::string note;  ///< "OPENBLAS_CORETYPE=SkylakeX"; "" for the library as it comes
  std::vector<std::string> environment;
};

/// The library as it comes first. OpenBLAS picks its kernels by CPU model, and Debian's takes those of
/// Haswell, half as fast, on CPUs that it does not know: the honest baseline is the fastest core type that
/// the instruction set `arch` (Limits::arch) can run.
std::vector<BaselineVariant> baseline_variants(std::string_view name, std::string_view arch, int threads);

}  // namespace lehr
