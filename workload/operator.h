// The operators, each described once by a table of fields and by its computation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/field.h"
#include "workload/reference_line.h"
#include "workload/workload.h"

namespace lehr {

/// Returns the value of a flag by its key; "" if it was not given.
using GivenFlags = std::function<std::string_view(std::string_view key)>;

/// The sums of an operator on images, before a pool.
struct ImageSums {
  std::int64_t count = 0, channels = 0;
  std::int64_t groups = 1;  ///< number of groups of channels, each computed from its own input channels
  std::int64_t height = 0, width = 0;
  ImageLayout layout = ImageLayout::kNchw;
};

/// An operator. Its functions may be called only with workloads of this operator.
struct OperatorTable {
  std::string_view name;     ///< the first word of a text: "gemm"
  std::string_view thing;    ///< "matrix product", in the help of commands
  std::string_view article;  ///< "a GEMM", in sentences
  std::string_view formula;  ///< over the flags in help
  /// Whether messages about one workload in a list name its sizes; otherwise they contain its text.
  bool named_by_sizes = false;
  std::span<const Field> fields;
  Workload usual;  ///< the workload of a text without any key
  /// Sets the values that flags leave open. Called after the given flags have been read. Throws Error(kUser).
  void (*complete)(Workload& workload, const GivenFlags& given) = nullptr;
  /// Does the same as validate(const Workload&), without the epilogue.
  void (*validate)(const Workload& workload) = nullptr;
  /// Returns the tensors in argument order, outputs last, without the operands of the epilogue.
  std::vector<TensorSpec> (*tensors)(const Workload& workload) = nullptr;
  /// Does the same as output_shape(), for the first output.
  std::vector<Dimension> (*shape)(const Workload& workload) = nullptr;
  /// Does the same as tensor_shapes(), for the operator's inputs only (a, b; x, f). If there are several
  /// outputs, for all tensors.
  std::vector<std::vector<Dimension>> (*input_shapes)(const Workload& workload) = nullptr;
  /// Does the same as sums_of(). An operator without products returns the type in which it computes.
  ProductSums (*sums)(const Workload& workload) = nullptr;
  /// Sets the types of the inputs and of the output.
  void (*set_types)(Workload& workload, DType inputs, DType output) = nullptr;
  /// Returns the channels of the sums, for an epilogue (epilogue.h).
  std::int64_t (*channels)(const Workload& workload) = nullptr;
  /// Returns the key of the size that slices_of() describes, or "".
  std::string_view (*sliced_size)(const Workload& workload) = nullptr;
  double (*flops)(const Workload& workload) = nullptr;
  /// Does the same as needed_flops_of(). nullptr: the same as flops.
  double (*needed_flops)(const Workload& workload) = nullptr;
  /// Do the same as call_rows() and with_call_rows(). nullptr: calls have no rows.
  CallRows (*rows)(const Workload& workload) = nullptr;
  void (*set_rows)(Workload& workload, const CallRows& rows) = nullptr;
  /// Returns whether neighbouring columns in memory are pairs that a gate can combine. nullptr: never.
  bool (*has_pairs)(const Workload& workload) = nullptr;
  /// Do the same as images_of(), and set the layout. nullptr: the output is not an image.
  ImageSums (*images)(const Workload& workload) = nullptr;
  void (*set_layout)(Workload& workload, ImageLayout layout) = nullptr;
  /// Return the lines of the outputs for make_references(), and the values of one line of each output.
  OutputLines (*lines)(const Workload& workload) = nullptr;
  void (*line)(const Workload& workload, std::span<const std::vector<float>> inputs, std::int64_t matrix,
               std::int64_t row, std::span<OutputLine> lines) = nullptr;
  /// Returns one element for reference_at(). `output` is the number of the output.
  float (*element)(const Workload& workload, std::span<const MadeInput> inputs, std::size_t output,
                   std::int64_t index) = nullptr;
  /// Does the same as tolerance_for(). 0 for an operator whose lines have bounds of their own.
  double (*tolerance)(const Workload& workload, std::int64_t elements) = nullptr;
};

/// Returns the tables in the order of Workload::problem's alternatives.
std::span<const OperatorTable> operators();
const OperatorTable& operator_of(const Workload& workload);
/// Returns the channels of the sums.
std::int64_t channels_of(const Workload& workload);
/// Returns the minimum number of operations for direct sums: flops_of() without products with padding, and
/// without outputs that a pool drops.
double needed_flops_of(const Workload& workload);
/// Returns nullopt if the output is not an image.
std::optional<ImageSums> images_of(const Workload& workload);
/// Returns the dimensions of the output. For a matrix: rows and columns of C in any layout, after the batch
/// if that is more than 1. For an image: its four dimensions in the order of its layout.
std::vector<Dimension> output_shape(const Workload& workload);
/// Returns the shape of each of tensors_of(), outermost dimension first. A matrix has its rows and columns,
/// whatever its layout. An image or filter has its four dimensions in the order of memory. Any other tensor
/// has all elements in one dimension.
std::vector<std::vector<Dimension>> tensor_shapes(const Workload& workload);
/// Returns the shapes among tensor_shapes() that belong to outputs.
std::vector<std::vector<Dimension>> output_shapes(const Workload& workload);
/// Returns nullptr for an unknown name.
const OperatorTable* find_operator(std::string_view name);
std::vector<std::string_view> operator_names();

}  // namespace lehr
