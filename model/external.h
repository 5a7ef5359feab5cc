// Elements of constants, those in files of their own among them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/onnx.h"

namespace lehr {

/// The file of an external tensor. Throws Error(kUser), one sentence, unless it lies below the model's folder,
/// symbolic links followed.
std::filesystem::path external_file(const OnnxModel& model, const OnnxTensor& tensor);

/// All elements of a constant of f32. Throws Error(kUser) where it is of another type, its bytes are not as
/// many as its shape says, or its file cannot be read.
std::vector<float> f32_elements(const OnnxModel& model, const OnnxTensor& tensor);

}  // namespace lehr
