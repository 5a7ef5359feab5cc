// The operators, each described once by a table of fields and by what it computes.
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

/// What a flag was given, by its key; "" where it was not.
using GivenFlags = std::function<std::string_view(std::string_view key)>;

/// The sums of an operator over images, before a pool.
struct ImageSums {
  std::int64_t count = 0, channels = 0;
  std::int64_t groups = 1;  ///< of channels: each is made of input channels of its own
  std::int64_t height = 0, width = 0;
  ImageLayout layout = ImageLayout::kNchw;
};

/// An operator. Its functions are asked for workloads of this operator only.
struct OperatorTable {
  std::string_view name;     ///< the first word of a text: "gemm"
  std::string_view thing;    ///< "matrix product", in the help of commands
  std::string_view article;  ///< "a GEMM", in sentences
  std::string_view formula;  ///< over the flags in help
  /// Sentences about one workload of a list name its sizes; else they hold its text.
  bool named_by_sizes = false;
  std::span<const Field> fields;
  Workload usual;  ///< what a text without any key is
  /// Sets what flags leave open, once those that were given are read. Throws Error(kUser).
  void (*complete)(Workload& workload, const GivenFlags& given) = nullptr;
  /// As validate(const Workload&), without the epilogue.
  void (*validate)(const Workload& workload) = nullptr;
  /// In argument order, the outputs last; without the epilogue.
  std::vector<TensorSpec> (*tensors)(const Workload& workload) = nullptr;
  /// As output_shape(), of the first output.
  std::vector<Dimension> (*shape)(const Workload& workload) = nullptr;
  /// As tensor_shapes(), for the operator's inputs alone (a, b; x, f), or for all tensors where several are
  /// outputs.
  std::vector<std::vector<Dimension>> (*input_shapes)(const Workload& workload) = nullptr;
  /// As sums_of(): what it sums up; of an operator without products the type in which it computes.
  ProductSums (*sums)(const Workload& workload) = nullptr;
  /// Sets the type of its inputs, and of its output.
  void (*set_types)(Workload& workload, DType inputs, DType output) = nullptr;
  /// Of the sums, for an epilogue (epilogue.h).
  std::int64_t (*channels)(const Workload& workload) = nullptr;
  /// The key of the size that slices_of() describes; "" where there is none.
  std::string_view (*sliced_size)(const Workload& workload) = nullptr;
  double (*flops)(const Workload& workload) = nullptr;
  /// As needed_flops_of(); nullptr: as flops.
  double (*needed_flops)(const Workload& workload) = nullptr;
  /// As call_rows() and with_call_rows(); nullptr: calls have no rows.
  CallRows (*rows)(const Workload& workload) = nullptr;
  void (*set_rows)(Workload& workload, const CallRows& rows) = nullptr;
  /// Whether its columns are pairs side by side in memory, of which a gate makes one; nullptr: never.
  bool (*has_pairs)(const Workload& workload) = nullptr;
  /// As images_of(), and what sets where their channels lie; nullptr: its output is no image.
  ImageSums (*images)(const Workload& workload) = nullptr;
  void (*set_layout)(Workload& workload, ImageLayout layout) = nullptr;
  /// The outputs for make_references(): their lines, and what stands in one of each output.
  OutputLines (*lines)(const Workload& workload) = nullptr;
  void (*line)(const Workload& workload, std::span<const std::vector<float>> inputs, std::int64_t matrix,
               std::int64_t row, std::span<OutputLine> lines) = nullptr;
  /// One of reference_at(); `output` counts outputs.
  float (*element)(const Workload& workload, std::span<const MadeInput> inputs, std::size_t output,
                   std::int64_t index) = nullptr;
  /// As tolerance_for(); 0 of an operator whose lines have bounds.
  double (*tolerance)(const Workload& workload, std::int64_t elements) = nullptr;
};

/// In the order of Workload::problem's alternatives.
std::span<const OperatorTable> operators();
const OperatorTable& operator_of(const Workload& workload);
/// Channels of the sums.
std::int64_t channels_of(const Workload& workload);
/// What a direct sum does at least: as flops_of(), without products with padding or for outputs that a pool
/// drops.
double needed_flops_of(const Workload& workload);
/// nullopt where the output is no image.
std::optional<ImageSums> images_of(const Workload& workload);
/// Of the output: rows and columns of C, whatever its layout, behind the batch where that is more than 1; an
/// image's four in its layout.
std::vector<Dimension> output_shape(const Workload& workload);
/// The shape of each of tensors_of(), outermost dimension first: of a matrix its rows and columns, whatever
/// its layout; of an image or filter its four dimensions in the order of memory; else all elements in one.
std::vector<std::vector<Dimension>> tensor_shapes(const Workload& workload);
/// The shapes of the outputs among them.
std::vector<std::vector<Dimension>> output_shapes(const Workload& workload);
/// nullptr where there is none of that name.
const OperatorTable* find_operator(std::string_view name);
std::vector<std::string_view> operator_names();

}  // namespace lehr
