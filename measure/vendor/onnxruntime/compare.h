// Checks whether a model computes the same as the original model, output by output, for each kind of inputs.
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

/// The difference of one output from another.
struct Difference {
  /// For reals and 8-bit integers, the largest distance of two finite elements. For other types, the fraction
  /// of elements that differ.
  double worst = 0;
  /// The mean distance of 8-bit integers; else 0.
  double mean = 0;
  /// Whether infinities or NaNs are at other positions.
  bool other_matches = false;
  /// Whether the outputs have different types or shapes.
  bool other_shape = false;
};
Difference difference(const Data& wanted, const Data& got);

/// The original's outputs for one kind of inputs.
struct Original {
  std::string kind;
  std::vector<Data> inputs, outputs;
  /// For each output, the largest difference of the original from itself: between two runs, or between a run
  /// with optimizations and one without.
  std::vector<Difference> own;
  /// For each output, the difference that rounding the inputs causes; empty: not known.
  std::vector<Difference> nudged = {};
};
void add_own(Original& original, const std::vector<Data>& again);

/// The result of a comparison for one output.
struct OutputAgreement {
  std::string name;
  double worst = 0;  ///< largest difference, as a fraction of the output's range; finite
  /// For an output with scores of classes (two dimensions, the second at least 2): number of rows, and number
  /// of rows in which the class with the highest score is the same as the original's.
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
  double worst = 0;   ///< largest difference, as a fraction of an output's range; finite
  std::string where;  ///< the output with this difference
  std::string wrong;  ///< a sentence without a full stop that says what is wrong; "": nothing is wrong
  std::vector<OutputAgreement> outputs = {};
};

/// The rules for comparing models.
struct ComparisonRules {
  double tolerance = 1e-4;  ///< allowed difference, as a fraction of an output's range
  /// Whether an output that is the same for all kinds of inputs counts as blind. Ignored if there is only one
  /// kind of inputs.
  bool outputs_vary = false;
  /// Whether the range of an output is its largest range over all kinds of inputs. A quantized network has
  /// the same steps for small inputs as for large ones.
  bool common_range = false;
};
void describe(auto& field, Is<ComparisonRules> auto& rules) {
  field("tolerance", rules.tolerance);
  field("outputs_vary", rules.outputs_vary);
  field("common_range", rules.common_range);
}

/// An output that can show no fault, whatever a model computes.
struct BlindOutput {
  std::string name;
  std::string reason;  ///< a clause about the output, "it has no finite value"
};
void describe(auto& field, Is<BlindOutput> auto& output) {
  field("name", output.name);
  field("reason", output.reason);
}
/// Returns name and reason as a clause: "'y': it has no finite value".
std::string clause(const BlindOutput& output);

/// Compares models with the original.
class Comparison {
 public:
  /// Borrows `originals`; each must have its `own`. The range of real numbers is the largest finite magnitude
  /// among the elements that depend on the inputs. Elements of a mask, and numbers beyond 1e30, would hide
  /// all others and do not count; numbers beyond 1e30 only have to be beyond it in both. 8-bit integers are
  /// counted in steps, with a range of 127 steps. One step in a kernel's input causes some steps in its
  /// output, at few elements. So four times the tolerance is allowed, at least one step, and a quarter of a
  /// step in the mean.
  Comparison(std::span<const Original> originals, const ComparisonRules& rules);

  /// Adds the outputs of one model for the inputs of one kind. An output of reals or of 8-bit integers is
  /// wrong if it differs by more than the tolerance and by more than four times the original's difference
  /// from itself. The effect of rounding the inputs is allowed as well, up to 2 % of the range, because a
  /// bounded function after large numbers amplifies it. Any other output is wrong if the fraction of elements
  /// that differ exceeds four times the original's own (Original::own). If the original has more infinities
  /// or NaNs than for other inputs, their positions do not count.
  void add(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const;
  /// Adds the rows and the rows with the same first class of each output.
  void add_classes(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const;

  std::vector<BlindOutput> blind() const;
  /// Whether any output is not blind.
  bool says_anything() const;
  /// Returns a clause for each output and kind of inputs for which the output has more infinities or NaNs
  /// than for other inputs.
  std::vector<std::string> not_finite() const;
  /// Returns the original's largest difference from itself in compared outputs, as a fraction of an output's
  /// range.
  double own() const;

 private:
  struct Limit {
    bool compared = false;
    double range = 1;     ///< differences are fractions of this range
    double share = 0;     ///< largest allowed difference, as a fraction of `range`
    double mean = 0;      ///< largest allowed mean difference of 8-bit integers
    bool matches = true;  ///< whether infinities and NaNs must be at the original's positions
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
