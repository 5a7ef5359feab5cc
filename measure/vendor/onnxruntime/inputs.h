// Inputs for comparing models. Inputs of several scales are needed: an error in an upper bound shows only
// with large inputs, and an error in a lower bound may show only with zeros.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/vendor/onnxruntime/loaded_network.h"

namespace lehr::onnxruntime {

/// How the elements of an input are drawn.
struct InputKind {
  enum class Draw { kNormal, kMask, kImage, kEqual };
  const char* called;  ///< "N(0, 1) times 1000"
  Draw draw;
  double scale;  ///< the factor; with kEqual the value
};
/// Returns all kinds, the usual one first.
std::span<const InputKind> input_kinds();

/// Range of integers that an input may have, both ends included.
using WholeRange = std::pair<std::int64_t, std::int64_t>;

/// Requirements on the elements of inputs.
struct InputNeeds {
  /// Shapes by input. Open dimensions of inputs that are not named are 1.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, WholeRange> ranges;  ///< ranges by input, for indices into a table
  std::set<std::string> masks = {};          ///< inputs whose elements are 0 or 1
};

/// Whether an input has integers and so may be an attention mask.
bool may_be_mask(const Value& input);

/// Makes elements of the given kind. Integers are in their input's range; without a range they are in [0, 8),
/// and bytes take all their values. With kEqual all elements are `scale`, or the number of the range nearest
/// to it. With kMask elements are 0 and 1, and each row of at least two elements has both. Masks are drawn
/// like this for the first two kinds, with the same result for both, so that elements that a mask hides
/// depend on no input. For all other kinds masks are 1: in a short row a zero hides nearly everything. Throws
/// Error(kUser) for an input whose type has no made-up elements.
std::vector<Data> make_inputs(std::span<const Value> inputs, const InputNeeds& needs, const InputKind& kind,
                              std::uint64_t seed);

/// Returns the inputs with f32 elements rounded differently: each is changed by 2^-20 of its magnitude, up or
/// down.
std::vector<Data> nudged(std::vector<Data> inputs, std::uint64_t seed);

}  // namespace lehr::onnxruntime
