#include "target/archs.h"

#include <algorithm>

namespace lehr {
namespace {

// Cache sizes of current server cores: features need some, the log stores none, and they must not depend on
// the machine that replays.
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

// Of the x86-64 psABI; of Arm's architecture those whose instructions a processor tells of one by one.
constexpr IsaLevel kLevels[] = {
    {"x86-64", "x86_64", "sse2"},      {"x86-64-v2", "x86_64", "sse2"}, {"x86-64-v3", "x86_64", "avx2"},
    {"x86-64-v4", "x86_64", "avx512"}, {"armv8-a", "aarch64", "neon"},  {"armv8.1-a", "aarch64", "neon"},
    {"armv8.2-a", "aarch64", "neon"},
};

// The names are the compilers' (-m), and runtime/cpu_features.cpp says where a processor tells of them.
// "avxvnni" (of x86-64-v3: vpdpbusd of 32 bytes) and "amx-int8" and "amx-bf16" are rows here, with abilities
// of their own, as soon as kernels use them.
constexpr IsaFeature kFeatures[] = {
    {"avx512vnni", "x86-64-v4", Ability::kInt8Dot},
    {"avx512bf16", "x86-64-v4", Ability::kBf16Dot},
};

}  // namespace

// A kernel depends on caches and on the compiler, too.
const Archs kCpuArchs = {.known = [] { return std::vector<std::string>(); },
                         .limits = &limits_with,
                         .portable = false,
                         .levels = kLevels,
                         .features = kFeatures};

}  // namespace lehr
