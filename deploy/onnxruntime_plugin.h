// The plug-in that runs a library's kernels in ONNX Runtime (plugin/), installed with the program or compiled
// from the source that it ships.
#pragma once

#include "deploy/folder_files.h"
#include "measure/host/host_compiler.h"

namespace lehr {

/// `liblehr_onnxruntime.so`, for any processor of this architecture: the one that was installed with
/// `program` where there is one of this very text, else by the compiler that `options` name, which makes the
/// same bytes each time. It needs libc alone, and looks for the exported library beside itself.
/// Throws Error(kEnvironment) where there is no compiler or it fails.
FolderFile onnxruntime_plugin(const std::string& program, const HostCompilerOptions& options);

}  // namespace lehr
