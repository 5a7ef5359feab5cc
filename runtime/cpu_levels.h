// Levels of instruction sets for which kernels are made. A kernel for a level uses no other features that a
// machine may have.
#pragma once

#include <string_view>

namespace lehr::runtime {

struct CpuLevel {
  std::string_view name;     ///< name of the level in `--isa`, and in the compilers' flag -march
  std::string_view machine;  ///< uname's name of the processors that may have it
  std::string_view arch;     ///< name of the level's vectors, as in Limits::arch
  /// Names of features (cpu_features.h) that the level has in addition to those of the machine's previous
  /// level.
  std::string_view features;
};
/// The levels of the x86-64 psABI, and those of Arm's architecture whose instructions a processor reports one
/// by one. Lower levels of a machine come first. (Not inline, since a linker would merge the arrays of all
/// libraries in a program.)
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
