// Inputs for comparing models. What one scale hides another one shows: an upper bound that noise never
// reaches, a lower one that only zeros meet.
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

/// Integers that an input may have, both ends included.
using WholeRange = std::pair<std::int64_t, std::int64_t>;

/// Requirements of the elements.
struct InputNeeds {
  /// By input; open dimensions of other inputs are 1.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, WholeRange> ranges;  ///< by input: of indices into a table
  std::set<std::string> masks = {};          ///< inputs whose elements are 0 or 1
};

/// Whether an input has integers, as an attention mask does.
bool may_be_mask(const Value& input);

/// Makes elements of a kind. Integers are in their range; without one in [0, 8), bytes in all of theirs.
/// Elements of kEqual are the value, or the number of the range next to it. Elements of kMask are 0 and 1,
/// with both in each row of at least two. Masks are drawn like this for the first two kinds, and equally for
/// both: then elements that they hide depend on no input. For the other kinds they are 1: a short row with
/// zeros hides nearly everything. Throws Error(kUser) for an input of a type that cannot be made up.
std::vector<Data> make_inputs(std::span<const Value> inputs, const InputNeeds& needs, const InputKind& kind,
                              std::uint64_t seed);

/// Returns the inputs with elements of f32 rounded differently: by 2^-20 of their size, up or down.
std::vector<Data> nudged(std::vector<Data> inputs, std::uint64_t seed);

}  // namespace lehr::onnxruntime
