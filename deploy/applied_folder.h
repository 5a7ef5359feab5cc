// A network with the kernels that compute it, as a folder that an inference engine loads: model.onnx, the
// plug-in, and the bundle's files that the plug-in opens, in kernels/.
#pragma once

#include <string>
#include <vector>

#include "deploy/folder_files.h"

namespace lehr {

inline constexpr const char* kAppliedModel = "model.onnx";
inline constexpr const char* kAppliedKernels = "kernels";
inline constexpr const char* kPluginName = "liblehr_onnxruntime.so";

/// Where a folder of `lehr export` has what is applied to networks.
inline constexpr const char* kPluginKernels = "plugin";

/// That part of such a folder. Throws Error(kUser) where it has none.
std::string plugin_kernels(const std::string& bundle);
/// The manifest of a bundle's folder and the files that it names, below kAppliedKernels. Throws Error(kUser)
/// for what is no bundle or lacks one of them.
std::vector<FolderFile> bundle_files(const std::string& bundle);

/// Whether a folder is one of these.
bool is_applied_folder(const std::string& path);

}  // namespace lehr
