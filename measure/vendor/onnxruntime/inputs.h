// Inputs on which models are compared. What one scale hides another one shows: a bound that noise never
// reaches, a lower one that only zeros meet.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/vendor/onnxruntime/loaded_network.h"

namespace lehr::onnxruntime {

/// How the elements of an input are drawn.
struct InputKind {
  enum class Draw { kNormal, kImage, kEqual };
  const char* called;  ///< "N(0, 1) times 1000"
  Draw draw;
  double scale;  ///< the factor; of kEqual the value
};
/// The usual one first.
std::span<const InputKind> input_kinds();

/// Whole numbers that an input may have, both ends among them.
using WholeRange = std::pair<std::int64_t, std::int64_t>;

/// What the elements must fit.
struct InputNeeds {
  std::map<std::string, std::vector<std::int64_t>> shapes;  ///< by input; others' open dimensions are 1
  std::map<std::string, WholeRange> ranges;                 ///< by input: of indices into a table
};

/// Real elements are of the kind. Whole ones lie in their range; without one in [0, 8), bytes in all of
/// theirs. Those of kEqual are the value, or the number of the range next to it. Throws Error(kUser) for an
/// input whose type nothing is made up for.
std::vector<Data> make_inputs(std::span<const Value> inputs, const InputNeeds& needs, const InputKind& kind,
                              std::uint64_t seed);

}  // namespace lehr::onnxruntime
