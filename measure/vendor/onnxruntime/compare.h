// Checks whether a model computes the same as the original, output by output, for each kind of inputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "measure/vendor/onnxruntime/loaded_network.h"

namespace lehr::onnxruntime {

/// Counts infinities and NaN; 0 for an output that does not have real numbers.
std::size_t count_special(const Data& data);

/// How far one output is from another one.
struct Difference {
  /// The largest distance of two finite elements, for reals and 8-bit integers. Otherwise the share of
  /// elements that differ.
  double worst = 0;
  /// The mean distance of 8-bit integers; else 0.
  double mean = 0;
  /// Whether infinities or NaN are at other positions.
  bool other_matches = false;
  /// Whether it has another type or shape.
  bool other_shape = false;
};
Difference difference(const Data& wanted, const Data& got);

/// The original's outputs for one kind of inputs.
struct Original {
  std::string kind;
  std::vector<Data> inputs, outputs;
  /// For each output the largest difference of the original from itself: from another run, or from one
  /// without optimizations.
  std::vector<Difference> own;
  /// For each output the difference from rounding the inputs; empty: not known.
  std::vector<Difference> nudged = {};
};
void add_own(Original& original, const std::vector<Data>& again);

/// The result of a comparison for one output.
struct OutputAgreement {
  std::string name;
  double worst = 0;  ///< largest difference, as a share of its range; finite
  /// For an output of numbers for classes (two dimensions, the second at least 2): its rows, and the number
  /// of rows whose class with the largest number is also the original's.
  std::int64_t rows = 0, same_class = 0;
};
void describe(auto& field, Is<OutputAgreement> auto& output) {
  field("name", output.name);
  field("worst", output.worst);
  field("rows", output.rows);
  field("same_class", output.same_class);
}

/// The result of a comparison.
struct Agreement {
  double worst = 0;   ///< largest difference, as a share of an output's range; finite
  std::string where;  ///< the output with this difference
  std::string wrong;  ///< what is wrong, a sentence without a full stop; "": nothing
  std::vector<OutputAgreement> outputs = {};
};

/// The rules for comparing models.
struct ComparisonRules {
  double tolerance = 1e-4;  ///< allowed difference, as a share of an output's range
  /// Whether outputs that are the same for all kinds of inputs count as blind. Ignored with one kind of
  /// inputs.
  bool outputs_vary = false;
  /// Whether the range of an output is its largest over all kinds of inputs: a quantized network has the same
  /// steps for small inputs as for large ones.
  bool common_range = false;
};
void describe(auto& field, Is<ComparisonRules> auto& rules) {
  field("tolerance", rules.tolerance);
  field("outputs_vary", rules.outputs_vary);
  field("common_range", rules.common_range);
}

/// An output that shows nothing, whatever a model computes.
struct BlindOutput {
  std::string name;
  std::string reason;  ///< a clause about the output, "it has no finite value"
};
void describe(auto& field, Is<BlindOutput> auto& output) {
  field("name", output.name);
  field("reason", output.reason);
}
/// Returns both: "'y': it has no finite value".
std::string clause(const BlindOutput& output);

/// Compares models with the original.
class Comparison {
 public:
  /// Borrows `originals`; each must have its `own`. The range of real numbers is the largest finite magnitude
  /// among the elements that depend on the inputs: elements of a mask, and numbers beyond 1e30, would hide
  /// all others. Those numbers only have to be as large. 8-bit integers are counted in steps; a range is 127
  /// of them. A step in a kernel's input causes some in its output, at few elements: four times the tolerance
  /// is allowed, at least one step, and a quarter of a step in the mean.
  Comparison(std::span<const Original> originals, const ComparisonRules& rules);

  /// Adds one model's outputs for the inputs of a kind. An output of reals or of 8-bit integers is wrong if
  /// it differs by more than the tolerance and by more than four times the original's difference from itself.
  /// The effect of rounding the inputs counts, too, up to 2 % of the range: a bounded function after large
  /// numbers amplifies it. Any other output is wrong if more elements differ than four times as many as in
  /// the original itself. If the original has more infinities or NaN than for other inputs, their positions
  /// do not count.
  void add(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const;
  /// Adds which classes come first in the outputs.
  void add_classes(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const;

  std::vector<BlindOutput> blind() const;
  /// Whether any output shows something.
  bool says_anything() const;
  /// Returns a clause for each output and kind of inputs with more infinities or NaN than for other inputs.
  std::vector<std::string> not_finite() const;
  /// Returns the original's largest difference from itself in compared outputs, as a share of an output's
  /// range.
  double own() const;

 private:
  struct Limit {
    bool compared = false;
    double range = 1;     ///< a difference is a share of it
    double share = 0;     ///< largest difference
    double mean = 0;      ///< largest mean difference of 8-bit integers
    bool matches = true;  ///< whether infinities and NaN must be at the original's positions
  };
  void set_limits(std::size_t output);
  bool varies(std::size_t output) const;
  std::string why_blind(std::size_t output) const;
  OutputAgreement& output_in(Agreement& agreement, std::size_t output) const;

  std::span<const Original> originals_;
  ComparisonRules rules_;
  std::size_t outputs_;
  std::vector<std::vector<Limit>> limits_;  ///< by kind, then by output
};

}  // namespace lehr::onnxruntime
