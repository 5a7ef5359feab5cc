// Decides the forms of a network's values once kernels compute matches in bf16 or with channels last, and the
// casts and transposes that this needs.
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

/// How a value's form differs from the graph's: bits.
using Form = unsigned;
inline constexpr Form kPlainForm = 0;
inline constexpr Form kNarrowForm = 1;  ///< in bf16; the graph has f32
inline constexpr Form kLastForm = 2;    ///< with channels last

/// A Cast or a Transpose of a value from one form to another.
struct Conversion {
  Form from = kPlainForm, to = kPlainForm;
};

struct ValueForm {
  Form made = kPlainForm;
  unsigned read = 0;  ///< bit 1 << F: it is read in form F

  bool is_read(Form form) const { return (read >> form & 1) != 0; }
};
/// Returns the conversions of a value to the forms that it is read in, each after the one that makes its
/// input. If a value is both cast and transposed, it is transposed in f32, which engines do fastest.
std::vector<Conversion> conversions(const ValueForm& value);

/// A match as a kernel computes it. Values have FormGraph's numbers.
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
  std::vector<char> gone;  ///< nodes of matches, and those that only these have read
  /// Forms that nodes between matches read and write: a node has a form if a reader wants it, and its inputs
  /// have it (narrow_node(), last_node()).
  std::vector<Form> nodes;
};

/// A network's values and nodes by number, for many choices of kernels.
class FormGraph {
 public:
  /// Borrows both.
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
    std::vector<Form> carried;  ///< for each input the forms that the node can carry
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
  std::vector<double> elements_;  ///< by value; 0: not known
  std::vector<char> alike_;       ///< for each value whether a Transpose of it moves nothing
  std::vector<Node> nodes_;
};

/// Whether the tensor is in bf16, while the graph's value, or the constants that it is made from, are in f32.
bool is_narrowed(const TensorSpec& tensor, const GraphShapes& shapes, std::string_view value);
/// Whether the value is a constant, which is rounded when the network is rewritten. "" is one made from
/// several.
bool is_rounded_once(const Constants& constants, std::string_view value);
/// Returns the tensors of a workload in the order of Match::inputs.
std::vector<TensorSpec> inputs_of(const Workload& workload);
DType output_type(const Workload& workload);
/// Returns the form of a match's output.
Form made_form(const Replacement& replacement, const GraphShapes& shapes);

}  // namespace lehr
