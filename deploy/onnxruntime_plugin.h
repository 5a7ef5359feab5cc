// The plug-in that runs a library's kernels in ONNX Runtime (plugin/): installed with the program, or
// compiled from its shipped source.
#pragma once

#include "deploy/folder_files.h"
#include "measure/host/host_compiler.h"

namespace lehr {

/// Returns `liblehr_onnxruntime.so` for any processor of this architecture: the one that was installed with
/// `program`, if it has this very text, else compiled by the compiler of `options`, which makes the same
/// bytes each time. It needs only libc, and looks for the exported library beside itself. Throws
/// Error(kEnvironment) if there is no compiler or it fails.
FolderFile onnxruntime_plugin(const std::string& program, const HostCompilerOptions& options);

}  // namespace lehr
