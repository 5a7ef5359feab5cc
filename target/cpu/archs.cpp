#include "target/archs.h"

#include <algorithm>

#include "runtime/cpu_levels.h"

namespace lehr {
namespace {

// Returns limits with the cache sizes of current server cores. Features need cache sizes, but the log does
// not store them, and they must not depend on the machine that replays.
Limits limits_with(std::string_view arch, int cores) {
  Limits limits;
  limits.target = Target::kCpu;
  limits.arch = std::string(arch);
  limits.cores = std::max(1, cores);
  limits.vector_bytes = arch == "avx512" ? 64 : arch == "avx2" ? 32 : 16;
  limits.vector_registers = arch == "avx512" || arch == "neon" ? 32 : 16;
  limits.l1_bytes = 48 << 10;
  limits.l2_bytes = 2 << 20;
  limits.l3_bytes = 32 << 20;
  // Two FMA units at 2.5 GHz.
  limits.peak_gflops_f32 = 2.0 * 2 * limits.vector_bytes / 4 * 2.5 * limits.cores;
  limits.dram_gbytes_per_s = 20;
  return limits;
}

// The names are those of the compilers' -m flags; runtime/cpu_features.cpp reads a processor's features.
// "avxvnni" (of x86-64-v3: vpdpbusd of 32 bytes), "amx-int8" and "amx-bf16" will become rows here, with
// abilities of their own, as soon as kernels use them.
constexpr IsaFeature kFeatures[] = {
    {"avx512vnni", "x86-64-v4", Ability::kInt8Dot},
    {"avx512bf16", "x86-64-v4", Ability::kBf16Dot},
};

}  // namespace

// A kernel depends on caches and on the compiler, too, so `known` is empty.
const Archs kCpuArchs = {.known = [] { return std::vector<std::string>(); },
                         .limits = &limits_with,
                         .portable = false,
                         .levels = runtime::kCpuLevels,
                         .features = kFeatures};

}  // namespace lehr
