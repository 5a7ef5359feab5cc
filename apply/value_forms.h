// In which forms the values of a network are once places of it are computed by kernels, in bf16 or of images
// whose channels are last, and what is cast and transposed.
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

/// How a value lies beside how the graph has it: bits.
using Form = unsigned;
inline constexpr Form kPlainForm = 0;
inline constexpr Form kNarrowForm = 1;  ///< in bf16, where the graph has f32
inline constexpr Form kLastForm = 2;    ///< with channels last

/// A Cast or a Transpose of a value from one form to another one.
struct Conversion {
  Form from = kPlainForm, to = kPlainForm;
};

struct ValueForm {
  Form made = kPlainForm;
  unsigned read = 0;  ///< bit 1 << F: it is read in the form F

  bool is_read(Form form) const { return (read >> form & 1) != 0; }
};
/// Returns what takes a value to the forms that it is read in, each behind what it starts from. What is both
/// cast and transposed is transposed in f32, which engines do fastest.
std::vector<Conversion> conversions(const ValueForm& value);

/// A place as a kernel computes it: numbers of values as FormGraph has them.
struct FormedPlace {
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
  std::vector<char> gone;  ///< nodes of places, and those that only these have read
  /// Nodes between places read and write these: they are in a form where something wants it of them, and
  /// what they read is made so (narrow_node(), last_node()).
  std::vector<Form> nodes;
};

/// A network's values and nodes by number, for many choices of kernels.
class FormGraph {
 public:
  /// Borrows both.
  FormGraph(const OnnxModel& model, const GraphShapes& shapes);

  FormedPlace place(const Replacement& replacement) const;
  ValueForms forms(std::span<const FormedPlace* const> places) const;
  /// Estimates what an engine's casts and transposes take; microseconds.
  double conversion_us(const ValueForms& forms) const;

  std::string_view name(std::size_t value) const { return names_[value]; }
  std::size_t value(std::string_view name) const { return numbers_.at(name); }
  std::size_t size() const { return names_.size(); }

 private:
  struct Node {
    std::vector<std::size_t> inputs, outputs, captured;
    NarrowNode narrow = NarrowNode::kNone;
    bool may_be_last = false;
    std::vector<Form> carried;  ///< of each input the forms in which it goes with the node
  };

  std::size_t number(std::string_view name);
  void add(const OnnxNode& node);
  void drop_unread(std::span<const FormedPlace* const> places, std::vector<char>& gone) const;
  void find_wanted(const std::vector<char>& gone, std::vector<Form>& wanted) const;
  Form form_of(const Node& node, const std::vector<Form>& wanted, const std::vector<Form>& made) const;

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Constants constants_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<std::string_view> names_;
  std::vector<double> elements_;  ///< of each value; 0: not known
  std::vector<char> alike_;       ///< of each value whether a Transpose of it moves nothing
  std::vector<Node> nodes_;
};

/// Whether the tensor is in bf16 where the graph's value, or what it is made of, is in f32.
bool is_narrowed(const TensorSpec& tensor, const GraphShapes& shapes, std::string_view value);
/// Whether it is a constant, which is rounded when the network is rewritten; "": it is made of several.
bool is_rounded_once(const Constants& constants, std::string_view value);
/// Tensors of a workload, in the order of NetworkPlace::inputs.
std::vector<TensorSpec> inputs_of(const Workload& workload);
DType output_type(const Workload& workload);
/// The form of what a place makes.
Form made_form(const Replacement& replacement, const GraphShapes& shapes);

}  // namespace lehr
