// Inputs of a model from the user: --feed FILE.npz.
#pragma once

#include <string>
#include <vector>

#include "measure/vendor/onnxruntime/trial.h"
#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// Writes each array of the file to a file of its own in `folder`. Throws Error(kUser) with one sentence for
/// an array that is not an input of the model, or whose type or shape contradicts the model and the bindings.
std::vector<onnxruntime::FedInput> fed_inputs(const std::string& path, const OnnxModel& model,
                                              const ShapeBindings& bindings, const std::string& folder);

}  // namespace lehr
