// How the text of a target's kernels is written: spellings, entry functions, and the functions of its
// prelude.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/target.h"
#include "ir/kernel.h"

namespace lehr {

/// One function that a launch calls. A kernel has one for its body, and one for prepacking.
struct EntryText {
  std::string name;
  const ir::Block& block;   ///< the statements
  const std::string& body;  ///< the statements as text
  /// Direction of the parameters that the function writes; it also writes workspaces.
  ir::Direction filled;
};

/// One value per target (table.cpp).
struct Dialect {
  std::string_view index_type;          ///< type of loop and Let variables
  std::string_view restrict_word;       ///< spelling of the restrict qualifier
  std::string_view unroll_prefix;       ///< line before an unrolled loop, up to the count
  bool unroll_counted = false;          ///< whether the loop's extent follows the prefix as a count
  std::string_view no_unroll;           ///< line before a loop that must not be unrolled
  std::string_view block_barrier = "";  ///< the barrier's statement; empty if the target has no such barrier
  std::string_view warp_barrier = "";
  std::string_view cluster_barrier = "";
  std::string_view cluster_barrier_relaxed = "";
  /// A format that marks a value as equal in all lanes of a warp; empty if the target has no warps.
  std::string_view uniform = "";
  std::string_view register_align = "";  ///< text before a register array: "{align}{type} {name}[{count}];"
  /// A format for a vector in memory: {0} is "const " or empty, {1} the vector type, {2} the address.
  std::string_view vector_in_memory;
  /// Whether constant parts of an index are added to the address after the variable part, "(buffer + at)[4]".
  /// Only for global and shared memory.
  bool folds_offsets = false;
  /// Whether functions of one value exist for vectors only. A scalar is then computed in one lane of a
  /// vector.
  bool scalars_in_lanes = false;
  /// Returns the name of the prelude's snippet with this stem ("vector", "masked", "splat") for `lanes` lanes
  /// of a type. nullptr if snippets do not depend on the type ("vector4").
  std::string (*snippet_for)(const char* stem, DType type, int lanes) = nullptr;
  /// Returns "float", or the vector type of `lanes` elements: "f32x16" (C++), "float4" (CUDA). CHECKs that it
  /// exists.
  std::string (*type_name)(DType type, int lanes) = nullptr;
  /// Returns the expression for the variable of a loop that the launch binds: "task", "blockIdx.x". CHECKs
  /// that `kind` is such a loop.
  std::string_view (*launch_index)(ir::LoopKind kind) = nullptr;
  /// Returns the whole function, whose body is given.
  std::string (*entry)(const ir::Kernel& kernel, const ir::Launch& launch, const EntryText& entry) = nullptr;
  /// Returns comments for people that state how the kernel is launched.
  std::string (*launch_text)(const ir::Launch& launch, std::int64_t scratch_bytes) = nullptr;
  /// Returns the text of a snippet of the prelude (prelude.h). CHECKs that the name is known.
  std::string (*snippet)(const std::string& name) = nullptr;
  /// Returns the snippets that a snippet calls. Each sorts before it or is a vector type.
  std::vector<std::string> (*snippets_needed_by)(const std::string& name) = nullptr;
};

const Dialect& dialect_of(Target target);
extern const Dialect kCpuDialect, kCudaDialect;

/// Returns the C name of a scalar: "float", "unsigned short" for f16, which is kept as bits.
std::string scalar_name(DType type);
/// Returns the name that a kernel's text uses for the value of a parameter that is a number
/// (ir::Param::is_number).
std::string number_name(const ir::Kernel& kernel, const ir::Param& param);

}  // namespace lehr
