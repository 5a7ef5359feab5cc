// How the text of a target's kernels is written: spellings, entries, and the functions of its prelude.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/target.h"
#include "ir/kernel.h"

namespace lehr {

/// One function that a launch calls.
struct EntryText {
  std::string name;
  const ir::Block& block;   ///< the statements
  const std::string& body;  ///< the statements as text
  ir::Direction filled;     ///< the function writes parameters of this direction, and workspaces
};

/// One value per target (table.cpp).
struct Dialect {
  std::string_view index_type;          ///< type of loop and Let variables
  std::string_view restrict_word;       ///< spelling of the restrict qualifier
  std::string_view unroll_prefix;       ///< line in front of an unrolled loop, up to the count
  bool unroll_counted = false;          ///< the line ends in the loop's extent
  std::string_view no_unroll;           ///< line in front of a loop that is not to be unrolled
  std::string_view block_barrier = "";  ///< statement; empty: the target has no such barrier
  std::string_view warp_barrier = "";
  std::string_view cluster_barrier = "";
  std::string_view cluster_barrier_relaxed = "";
  /// A format that marks a value as equal in all lanes of a warp; empty: there are no warps.
  std::string_view uniform = "";
  std::string_view register_align = "";  ///< in front of a register array: "{align}{type} {name}[{count}];"
  /// A format of a vector in memory: {0} "const " or nothing, {1} the vector type, {2} the address.
  std::string_view vector_in_memory;
  /// Whether constants are added to addresses behind a pointer, "(buffer + at)[4]", for global and shared
  /// memory.
  bool folds_offsets = false;
  /// Whether the functions of one value are written for vectors. A scalar then takes one lane.
  bool scalars_in_lanes = false;
  /// Returns the name of the prelude's snippet of this stem ("vector", "masked", "splat") for `lanes` lanes
  /// of a type; nullptr: the same for all types, "vector4".
  std::string (*snippet_for)(const char* stem, DType type, int lanes) = nullptr;
  /// Returns "float", or the vector type of `lanes` elements: "f32x16" (C++), "float4" (CUDA). CHECKs that it
  /// exists.
  std::string (*type_name)(DType type, int lanes) = nullptr;
  /// Returns the value of the variable of a loop that the launch binds: "task", "blockIdx.x". CHECKs that
  /// `kind` is such a loop.
  std::string_view (*launch_index)(ir::LoopKind kind) = nullptr;
  /// Returns the function around a body.
  std::string (*entry)(const ir::Kernel& kernel, const ir::Launch& launch, const EntryText& entry) = nullptr;
  /// Returns how it is launched, as comments for people.
  std::string (*launch_text)(const ir::Launch& launch, std::int64_t scratch_bytes) = nullptr;
  /// Returns the text of a snippet of the prelude (prelude.h). CHECKs that the name is known.
  std::string (*snippet)(const std::string& name) = nullptr;
  /// Returns the snippets that it calls; each sorts before it or is a vector type.
  std::vector<std::string> (*snippets_needed_by)(const std::string& name) = nullptr;
};

const Dialect& dialect_of(Target target);
extern const Dialect kCpuDialect, kCudaDialect;

/// Returns the C name of a scalar: "float", "unsigned short" for f16, which is kept as bits.
std::string scalar_name(DType type);
/// Returns the name, in a text, of the element of a parameter that is a number (ir::Param::is_number).
std::string number_name(const ir::Kernel& kernel, const ir::Param& param);

}  // namespace lehr
