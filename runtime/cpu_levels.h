// Levels of instruction sets that kernels for processors are made for, whatever more the machine at hand has.
#pragma once

#include <string_view>

namespace lehr::runtime {

struct CpuLevel {
  std::string_view name;      ///< as `--isa` and the compilers' -march= have it
  std::string_view machine;   ///< whose processors may have it, as uname calls them
  std::string_view arch;      ///< of its vectors: Limits::arch
  std::string_view features;  ///< of cpu_features.h, beyond those of the machine's level before it
};
/// Of the x86-64 psABI; of Arm's architecture those whose instructions a processor tells of one by one. Of a
/// machine, lower ones stand first. (Not inline: a linker would make it one for all libraries of a program.)
constexpr CpuLevel kCpuLevels[] = {
    {"x86-64", "x86_64", "sse2", ""},
    {"x86-64-v2", "x86_64", "sse2", "sse3 ssse3 sse4.1 sse4.2 popcnt"},
    {"x86-64-v3", "x86_64", "avx2", "avx avx2 bmi bmi2 f16c fma lzcnt movbe"},
    {"x86-64-v4", "x86_64", "avx512", "avx512f avx512bw avx512cd avx512dq avx512vl"},
    {"armv8-a", "aarch64", "neon", ""},
    {"armv8.1-a", "aarch64", "neon", "crc lse rdma"},
    {"armv8.2-a", "aarch64", "neon", ""},
};

}  // namespace lehr::runtime
