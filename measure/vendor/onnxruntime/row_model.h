// Writes a row expression as an ONNX model.
#pragma once

#include <string>
#include <vector>

#include "measure/vendor/onnxruntime/loaded_network.h"
#include "workload/rowwise/rowwise.h"

namespace lehr::onnxruntime {

struct RowModel {
  std::string bytes;          ///< the file's bytes
  std::vector<Value> values;  ///< inputs and outputs, in the order of tensors_of(rowwise)
};

/// Returns a model of opset 20 for the number of rows of a call. `whole`: a function that ONNX has (softmax,
/// layer normalization, ...) is one node. If false, each operator is a node. Throws Error(kUser) with one
/// sentence for an expression that cannot be written.
RowModel row_model(const Rowwise& rowwise, bool whole);

/// Returns a model that copies one element.
RowModel identity_model();

}  // namespace lehr::onnxruntime
