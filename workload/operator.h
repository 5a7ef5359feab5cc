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

/// The sums of an operator over images, before a pool.
struct ImageSums {
  std::int64_t count = 0, channels = 0;
  std::int64_t groups = 1;  ///< groups of channels: each is computed from input channels of its own
  std::int64_t height = 0, width = 0;
  ImageLayout layout = ImageLayout::kNchw;
};

/// An operator. Its functions may be called only with workloads of this operator.
struct OperatorTable {
  std::string_view name;     ///< the first word of a text: "gemm"
  std::string_view thing;    ///< "matrix product", in the help of commands
  std::string_view article;  ///< "a GEMM", in sentences
  std::string_view formula;  ///< over the flags in help
  /// Whether sentences about one workload of a list name its sizes; else they hold its text.
  bool named_by_sizes = false;
  std::span<const Field> fields;
  Workload usual;  ///< the workload of a text without any key
  /// Sets the values that flags leave open, after the given ones are read. Throws Error(kUser).
  void (*complete)(Workload& workload, const GivenFlags& given) = nullptr;
  /// As validate(const Workload&), without the epilogue.
  void (*validate)(const Workload& workload) = nullptr;
  /// Returns the tensors in argument order, the outputs last; without the epilogue.
  std::vector<TensorSpec> (*tensors)(const Workload& workload) = nullptr;
  /// As output_shape(), of the first output.
  std::vector<Dimension> (*shape)(const Workload& workload) = nullptr;
  /// As tensor_shapes(), for the operator's inputs alone (a, b; x, f), or for all tensors if there are
  /// several outputs.
  std::vector<std::vector<Dimension>> (*input_shapes)(const Workload& workload) = nullptr;
  /// As sums_of(): the sums. An operator without products returns the type in which it computes.
  ProductSums (*sums)(const Workload& workload) = nullptr;
  /// Sets the type of its inputs, and of its output.
  void (*set_types)(Workload& workload, DType inputs, DType output) = nullptr;
  /// Returns the channels of the sums, for an epilogue (epilogue.h).
  std::int64_t (*channels)(const Workload& workload) = nullptr;
  /// Returns the key of the size that slices_of() describes, or "".
  std::string_view (*sliced_size)(const Workload& workload) = nullptr;
  double (*flops)(const Workload& workload) = nullptr;
  /// As needed_flops_of(); nullptr: as flops.
  double (*needed_flops)(const Workload& workload) = nullptr;
  /// As call_rows() and with_call_rows(); nullptr: calls have no rows.
  CallRows (*rows)(const Workload& workload) = nullptr;
  void (*set_rows)(Workload& workload, const CallRows& rows) = nullptr;
  /// Returns whether its columns are pairs side by side in memory, which a gate combines; nullptr: never.
  bool (*has_pairs)(const Workload& workload) = nullptr;
  /// As images_of(), and the setter of the layout; nullptr: its output is not an image.
  ImageSums (*images)(const Workload& workload) = nullptr;
  void (*set_layout)(Workload& workload, ImageLayout layout) = nullptr;
  /// The lines of the outputs for make_references(), and the values of one line of each output.
  OutputLines (*lines)(const Workload& workload) = nullptr;
  void (*line)(const Workload& workload, std::span<const std::vector<float>> inputs, std::int64_t matrix,
               std::int64_t row, std::span<OutputLine> lines) = nullptr;
  /// Returns one element of reference_at(); `output` counts outputs.
  float (*element)(const Workload& workload, std::span<const MadeInput> inputs, std::size_t output,
                   std::int64_t index) = nullptr;
  /// As tolerance_for(); 0 for an operator whose lines have bounds.
  double (*tolerance)(const Workload& workload, std::int64_t elements) = nullptr;
};

/// Returns the tables in the order of Workload::problem's alternatives.
std::span<const OperatorTable> operators();
const OperatorTable& operator_of(const Workload& workload);
/// Returns the channels of the sums.
std::int64_t channels_of(const Workload& workload);
/// Returns the operations that a direct sum needs at least: as flops_of(), without products with padding or
/// for outputs that a pool drops.
double needed_flops_of(const Workload& workload);
/// Returns nullopt if the output is not an image.
std::optional<ImageSums> images_of(const Workload& workload);
/// Returns the dimensions of the output: rows and columns of C, whatever its layout, behind the batch if that
/// is more than 1; or the four dimensions of an image in its layout.
std::vector<Dimension> output_shape(const Workload& workload);
/// Returns the shape of each of tensors_of(), outermost dimension first. A matrix has its rows and columns,
/// whatever its layout. An image or filter has its four dimensions in the order of memory. Any other tensor
/// has all elements in one dimension.
std::vector<std::vector<Dimension>> tensor_shapes(const Workload& workload);
/// Returns those shapes that are outputs.
std::vector<std::vector<Dimension>> output_shapes(const Workload& workload);
/// Returns nullptr for an unknown name.
const OperatorTable* find_operator(std::string_view name);
std::vector<std::string_view> operator_names();

}  // namespace lehr
