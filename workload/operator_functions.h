// The functions of an operator's table, made from the functions that its folder has for its struct.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "workload/operator.h"

namespace lehr {

/// Returns `words` with these functions. Their declarations must be included before
/// (conv2d/conv2d_operator.cpp).
template <typename Problem>
OperatorTable with_functions(OperatorTable words) {
  words.validate = [](const Workload& w) { validate(std::get<Problem>(w.problem)); };
  words.tensors = [](const Workload& w) { return tensors_of(std::get<Problem>(w.problem)); };
  words.shape = [](const Workload& w) { return shape_of(std::get<Problem>(w.problem), w.epilogue); };
  words.input_shapes = [](const Workload& w) { return input_shapes_of(std::get<Problem>(w.problem)); };
  words.sums = [](const Workload& w) { return product_sums(std::get<Problem>(w.problem)); };
  words.set_types = [](Workload& w, DType inputs, DType output) {
    set_types(std::get<Problem>(w.problem), inputs, output);
  };
  words.channels = [](const Workload& w) { return channels_of(std::get<Problem>(w.problem)); };
  words.sliced_size = [](const Workload& w) { return sliced_size(std::get<Problem>(w.problem)); };
  words.flops = [](const Workload& w) { return flops_of(std::get<Problem>(w.problem)); };
  words.lines = [](const Workload& w) { return reference_lines(std::get<Problem>(w.problem), w.epilogue); };
  words.line = [](const Workload& w, std::span<const std::vector<float>> inputs, std::int64_t matrix,
                  std::int64_t row, std::span<OutputLine> lines) {
    reference_line(std::get<Problem>(w.problem), w.epilogue, inputs, matrix, row, lines);
  };
  words.element = [](const Workload& w, std::span<const MadeInput> inputs, std::size_t output,
                     std::int64_t index) {
    return reference_element(std::get<Problem>(w.problem), w.epilogue, inputs, output, index);
  };
  words.tolerance = [](const Workload& w, std::int64_t elements) {
    return reference_tolerance(std::get<Problem>(w.problem), w.epilogue, elements);
  };
  return words;
}

}  // namespace lehr
