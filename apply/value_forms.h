// Decides which values of a network are in bf16 or have channels last, given the kernels that compute its
// matches, and where casts and transposes are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apply/rewrite.h"
#include "network/layouts.h"
#include "network/narrow.h"

namespace lehr {

/// Bits that state how a value differs from the same value in the graph.
using Form = unsigned;
inline constexpr Form kPlainForm = 0;
inline constexpr Form kNarrowForm = 1;  ///< the value is in bf16; in the graph it is in f32
inline constexpr Form kLastForm = 2;    ///< the value has channels last; in the graph it has not

/// A Cast or a Transpose of a value from one form to another.
struct Conversion {
  Form from = kPlainForm, to = kPlainForm;
};

struct ValueForm {
  Form made = kPlainForm;
  unsigned read = 0;  ///< bit 1 << F: the value is read in form F

  bool is_read(Form form) const { return (read >> form & 1) != 0; }
};
/// Returns the conversions of a value to all forms in which it is read. A conversion comes after the
/// conversion whose output it reads. A value that is both cast and transposed is transposed in f32, which
/// engines do fastest.
std::vector<Conversion> conversions(const ValueForm& value);

/// A match with the forms of the values that its kernel reads and writes. Values and nodes are numbers of a
/// FormGraph.
struct FormedMatch {
  struct Read {
    std::size_t value;
    Form form;
  };
  std::vector<std::size_t> nodes;
  std::vector<Read> reads;
  std::vector<std::size_t> outputs;
  Form made = kPlainForm;
};

struct ValueForms {
  std::vector<ValueForm> values;
  /// For each node, whether it is dropped: a match replaces it, or only dropped nodes read its outputs.
  std::vector<char> gone;
  /// For each node between matches, the form that it reads and writes. A node gets a form that it can compute
  /// in (narrow_node(), last_node()) if its inputs have this form and a reader of its output wants the form.
  std::vector<Form> nodes;
};

/// A network's values and nodes by number, for many choices of kernels.
class FormGraph {
 public:
  /// Keeps references to `model` and `shapes`.
  FormGraph(const OnnxModel& model, const GraphShapes& shapes);

  FormedMatch match(const Replacement& replacement) const;
  ValueForms forms(std::span<const FormedMatch* const> matches) const;
  /// Estimates the microseconds of an engine's casts and transposes.
  double conversion_us(const ValueForms& forms) const;

  std::string_view name(std::size_t value) const { return names_[value]; }
  std::size_t value(std::string_view name) const { return numbers_.at(name); }
  std::size_t size() const { return names_.size(); }

 private:
  struct Node {
    std::vector<std::size_t> inputs, outputs, captured;
    NarrowNode narrow = NarrowNode::kNone;
    bool may_be_last = false;
    /// For each input, the forms that the node can read and pass on to its output.
    std::vector<Form> carried;
  };

  std::size_t number(std::string_view name);
  void add(const OnnxNode& node);
  void drop_unread(std::span<const FormedMatch* const> matches, std::vector<char>& gone) const;
  void find_wanted(const std::vector<char>& gone, std::vector<Form>& wanted) const;
  Form form_of(const Node& node, const std::vector<Form>& wanted, const std::vector<Form>& made) const;

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Constants constants_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<std::string_view> names_;
  std::vector<double> elements_;  ///< number of elements of each value; 0: not known
  std::vector<char> alike_;       ///< for each value, whether a Transpose of it moves nothing
  std::vector<Node> nodes_;
};

/// Whether the tensor is in bf16 although the graph's value is in f32. A value of "" is made from several
/// constants, which are in f32.
bool is_narrowed(const TensorSpec& tensor, const GraphShapes& shapes, std::string_view value);
/// Whether the value is a constant. A constant is rounded only once, when the network is rewritten. A value
/// of "" is a constant that is made from several other constants.
bool is_rounded_once(const Constants& constants, std::string_view value);
/// Returns the tensors of a workload in the order of Match::inputs.
std::vector<TensorSpec> inputs_of(const Workload& workload);
DType output_type(const Workload& workload);
/// Returns the form in which the kernel writes the match's output.
Form made_form(const Replacement& replacement, const GraphShapes& shapes);

}  // namespace lehr
