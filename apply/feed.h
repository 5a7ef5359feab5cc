// Inputs of a model that the user gives: --feed FILE.npz.
#pragma once

#include <string>
#include <vector>

#include "measure/vendor/onnxruntime/trial.h"
#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// The file's arrays, each written to a file of its own in `folder`. Throws Error(kUser), one sentence, for
/// an array that is no input of the model, or of another type or shape than the model and the bindings say.
std::vector<onnxruntime::FedInput> fed_inputs(const std::string& path, const OnnxModel& model,
                                              const ShapeBindings& bindings, const std::string& folder);

}  // namespace lehr
