// A network with the kernels that compute it, as a folder that an inference engine loads: model.onnx, the
// plug-in, and the exported library beside it, lib<NAME>.so, which the nodes of model.onnx name.
#pragma once

#include <string>

namespace lehr {

inline constexpr const char* kAppliedModel = "model.onnx";
/// The constants of a network with branches, which each of these refers to.
inline constexpr const char* kAppliedConstants = "model.constants";
/// What `lehr apply --json` printed of it, for `lehr report`. Nothing that loads the folder reads it.
inline constexpr const char* kAppliedDocument = "applied.json";
inline constexpr const char* kPluginName = "liblehr_onnxruntime.so";

/// Whether `lehr apply` has written a folder.
bool is_applied_folder(const std::string& path);

}  // namespace lehr
