// Provides the plug-in that runs a library's kernels in ONNX Runtime (plugin/). It is installed with the
// program, or compiled from its source, which the program contains.
#pragma once

#include "deploy/folder_files.h"
#include "measure/host/host_compiler.h"

namespace lehr {

/// Returns `liblehr_onnxruntime.so` for any processor of this architecture. The installed plug-in of
/// `program` is used if it was compiled from exactly this source. Else the plug-in is compiled with the
/// compiler of `options`, which gives the same bytes each time. The plug-in needs only libc, and loads the
/// exported library from its own folder. Throws Error(kEnvironment) if there is no compiler or it fails.
FolderFile onnxruntime_plugin(const std::string& program, const HostCompilerOptions& options);

}  // namespace lehr
