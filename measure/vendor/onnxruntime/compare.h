// Whether a model computes what the original does, output by output, for each kind of inputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "measure/vendor/onnxruntime/loaded_network.h"

namespace lehr::onnxruntime {

/// Counts infinities and NaN; 0 for an output of no real numbers.
std::size_t count_special(const Data& data);

/// How far one output is from another one.
struct Difference {
  /// The largest distance of two finite elements, for reals and 8-bit integers; else the share of elements
  /// that differ.
  double worst = 0;
  /// The mean distance of 8-bit integers; else 0.
  double mean = 0;
  /// Infinities or NaN stand in other places.
  bool other_places = false;
  /// It has another type or shape.
  bool other_shape = false;
};
Difference difference(const Data& wanted, const Data& got);

/// The original's outputs for one kind of inputs.
struct Original {
  std::string kind;
  std::vector<Data> inputs, outputs;
  /// Of each output the most that the original differs from itself: from another run, from one without
  /// optimizations.
  std::vector<Difference> own;
  /// What rounding the inputs makes of each output; empty: not known.
  std::vector<Difference> nudged = {};
};
void add_own(Original& original, const std::vector<Data>& again);

/// What a comparison came to, of one output.
struct OutputAgreement {
  std::string name;
  double worst = 0;  ///< largest difference, as a share of its range; finite
  /// Of an output of numbers for classes (two dimensions, of which the second is at least 2): its rows, and
  /// those whose largest number is that of a class that is the original's largest, too.
  std::int64_t rows = 0, same_class = 0;
};
void describe(auto& field, Is<OutputAgreement> auto& output) {
  field("name", output.name);
  field("worst", output.worst);
  field("rows", output.rows);
  field("same_class", output.same_class);
}

/// What a comparison came to.
struct Agreement {
  double worst = 0;   ///< largest difference, as a share of an output's range; finite
  std::string where;  ///< in which output
  std::string wrong;  ///< what is wrong, a sentence without a full stop; "": nothing
  std::vector<OutputAgreement> outputs = {};
};

/// What models are held to.
struct ComparisonRules {
  double tolerance = 1e-4;  ///< share of an output's range by which numbers may differ
  /// Outputs that are the same for inputs of every kind say nothing. With one kind of inputs this is not
  /// asked.
  bool outputs_vary = false;
  /// The range of an output is its largest over all kinds of inputs: a quantized network has the same steps
  /// for small inputs as for large ones.
  bool common_range = false;
};
void describe(auto& field, Is<ComparisonRules> auto& rules) {
  field("tolerance", rules.tolerance);
  field("outputs_vary", rules.outputs_vary);
  field("common_range", rules.common_range);
}

/// An output that says nothing, whatever a model computes.
struct BlindOutput {
  std::string name;
  std::string reason;  ///< a clause about the output, "it has no finite value"
};
void describe(auto& field, Is<BlindOutput> auto& output) {
  field("name", output.name);
  field("reason", output.reason);
}
/// Says both: "'y': it has no finite value".
std::string clause(const BlindOutput& output);

/// Holds models to the original.
class Comparison {
 public:
  /// Borrows `originals`, of which each has its `own`. The range of real numbers is the largest finite
  /// magnitude among the elements that follow the inputs: those of a mask would hide all others, and so would
  /// numbers beyond 1e30, which only have to be as large. 8-bit integers are counted in steps, of which 127
  /// are a range. A step in what a kernel reads becomes some in what it makes, at few elements: four times
  /// the tolerance is allowed, at least one step, and a quarter of a step in the mean.
  Comparison(std::span<const Original> originals, const ComparisonRules& rules);

  /// Adds one model's outputs for the inputs of a kind. An output of reals or of 8-bit integers is wrong
  /// where it differs by more than the tolerance and by more than four times what the original differs from
  /// itself. What rounding of the inputs does counts, too, up to 2 % of the range: a bounded function behind
  /// large numbers amplifies it. Any other output is wrong where more elements differ than four times as many
  /// as in the original itself. Where the original has more infinities or NaN than for other inputs, where
  /// they stand is not held against a model.
  void add(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const;
  /// Adds which classes come first in them.
  void add_classes(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const;

  std::vector<BlindOutput> blind() const;
  /// Whether any output says something.
  bool says_anything() const;
  /// Of each output and kind of inputs with more infinities or NaN than for other inputs, a clause.
  std::vector<std::string> not_finite() const;
  /// Largest difference of the original from itself where it is compared, as a share of an output's range.
  double own() const;

 private:
  struct Limit {
    bool compared = false;
    double range = 1;    ///< that a difference is a share of
    double share = 0;    ///< allowed
    double mean = 0;     ///< allowed; 8-bit integers
    bool places = true;  ///< infinities and NaN have to stand in the original's places
  };
  void set_limits(std::size_t output);
  bool varies(std::size_t output) const;
  std::string why_blind(std::size_t output) const;
  OutputAgreement& output_in(Agreement& agreement, std::size_t output) const;

  std::span<const Original> originals_;
  ComparisonRules rules_;
  std::size_t outputs_;
  std::vector<std::vector<Limit>> limits_;  ///< by kind, then output
};

}  // namespace lehr::onnxruntime
