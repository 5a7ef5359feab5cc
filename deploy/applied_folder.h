// The folder of a network with its kernels, as an inference engine loads it. It holds model.onnx, the
// plug-in, and the exported library lib<NAME>.so, whose NAME is an attribute of the nodes in model.onnx.
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
