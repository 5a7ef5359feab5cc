// A row expression as an ONNX model.
#pragma once

#include <string>
#include <vector>

#include "measure/vendor/onnxruntime/loaded_network.h"
#include "workload/rowwise/rowwise.h"

namespace lehr::onnxruntime {

struct RowModel {
  std::string bytes;          ///< the file's
  std::vector<Value> values;  ///< inputs and outputs, in the order of tensors_of(rowwise)
};

/// Writes one of opset 20 for the rows of the call. `whole`: what ONNX has as one function (softmax, layer
/// normalization, ...) is one node, else each operator is. Throws Error(kUser), one sentence, for what it
/// does not write.
RowModel row_model(const Rowwise& rowwise, bool whole);

/// A model that hands on one element.
RowModel identity_model();

}  // namespace lehr::onnxruntime
