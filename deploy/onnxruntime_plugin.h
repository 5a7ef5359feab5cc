// The plug-in that runs a bundle's kernels in ONNX Runtime (plugin/), compiled from the source
// that the program ships.
#pragma once

#include "deploy/folder_files.h"
#include "measure/host/host_compiler.h"

namespace lehr {

/// `liblehr_onnxruntime.so`, for any processor of this architecture, by the compiler that `options` name; the
/// same compiler makes the same bytes. It needs libc alone, and looks for the bundle in the folder `kernels`
/// beside itself. Throws Error(kEnvironment) where there is no compiler or it fails.
FolderFile onnxruntime_plugin(const HostCompilerOptions& options);

}  // namespace lehr
