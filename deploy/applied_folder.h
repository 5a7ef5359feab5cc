// A network with the kernels that compute it, as a folder that an inference engine loads: model.onnx, the
// plug-in, and the exported library beside it, lib<NAME>.so, which the nodes of model.onnx name.
#pragma once

#include <string>

namespace lehr {

inline constexpr const char* kAppliedModel = "model.onnx";
/// The constants of a network with branches; both branches refer to them.
inline constexpr const char* kAppliedConstants = "model.constants";
/// The document that `lehr apply --json` printed, for `lehr report`. A program that loads the folder does not
/// read it.
inline constexpr const char* kAppliedDocument = "applied.json";
inline constexpr const char* kPluginName = "liblehr_onnxruntime.so";

/// Whether `lehr apply` has written the folder.
bool is_applied_folder(const std::string& path);

}  // namespace lehr
