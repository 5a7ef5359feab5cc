// Which values of a network of f32 are in bf16 once places of it are computed so, and what is cast.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "apply/rewrite.h"
#include "network/elementwise.h"
#include "network/narrow.h"

namespace lehr {

/// A value of f32 in the graph that bf16 is read of, or made.
struct NarrowValue {
  bool made_narrow = false;  ///< what makes it makes bf16; else f32
  bool read_narrow = false, read_plain = false;

  /// To the type in which it is not made.
  bool is_cast() const { return made_narrow ? read_plain : read_narrow; }
};

struct NarrowValues {
  /// Others are as the graph has them.
  std::unordered_map<std::string_view, NarrowValue> values;
  /// Those between places that read and write bf16 (narrow_node()): where something wants bf16 of them, and
  /// what they read is made so, of several that are put together one.
  std::unordered_set<std::size_t> nodes;
};
NarrowValues narrow_values(const OnnxModel& model, const GraphShapes& shapes,
                           std::span<const Replacement> replacements);

/// Whether the tensor is in bf16 where the graph's value, or what it is made of, is in f32.
bool is_narrowed(const TensorSpec& tensor, const GraphShapes& shapes, std::string_view value);
/// Whether it is a constant, which is rounded when the network is rewritten; "": it is made of several.
bool is_rounded_once(const Constants& constants, std::string_view value);
/// Of a workload, in the order of NetworkPlace::inputs.
std::vector<TensorSpec> inputs_of(const Workload& workload);
DType output_type(const Workload& workload);

/// What an engine's casts of all of them take, as far as it is known before they are timed; microseconds.
double cast_us(const NarrowValues& narrow, const GraphShapes& shapes);

}  // namespace lehr
