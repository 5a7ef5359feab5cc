// The spellings in which C++ and CUDA C++ differ.
#pragma once

#include <string>
#include <string_view>

#include "ir/kernel.h"

namespace lehr {

struct Dialect {
  std::string_view index_type;     ///< type of loop and Let variables
  std::string_view restrict_word;  ///< spelling of the restrict qualifier
  std::string_view unroll_prefix;  ///< line in front of an unrolled loop, up to the count
  bool unroll_counted = false;     ///< the line ends in the loop's extent
  std::string_view no_unroll;      ///< line in front of a loop that is not to be unrolled
  std::string_view block_barrier;  ///< statement; empty: the target has none
  std::string_view warp_barrier;
  std::string_view cluster_barrier;
  bool value_vectors =
      false;  ///< vectors are values with arithmetic (GNU extensions); else only memory moves
  /// Declaration of a register array: "{align}{type} {name}[{count}];"
  std::string_view register_align;
};

/// C++ for g++ and clang++ with GNU vector extensions.
Dialect cpp_dialect();
/// CUDA C++ for NVRTC, no header included.
Dialect cuda_dialect();
Dialect dialect_for(Target target);

/// "float", or the vector type of `lanes` elements: "f32x16" (C++), "float4" (CUDA). On CUDA vectors are only
/// moved, so that types but f32 share the unsigned vector of their size: "uint4" for 8 of bf16.
std::string type_name(Target target, DType type, int lanes);
/// Value of a hardware index: "blockIdx.x", "threadIdx.y". CHECKs that `kind` is a block or thread loop.
std::string_view hardware_index(ir::LoopKind kind);
/// A literal that reads back as exactly `value`: "0.5f", "(-__builtin_inff())", "__builtin_nanf(\"\")".
std::string float_literal(double value, DType type);

}  // namespace lehr
