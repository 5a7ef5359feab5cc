// Paths of programs, tools and libraries. Contains only values, because api/lehr.h includes it.
#pragma once

#include <string>
#include <vector>

namespace lehr {

/// Paths of the program, its tools and libraries, and the folder for temporary files.
struct ToolPaths {
  std::string program = {};  ///< the program `lehr` of this version, which worker processes run
  std::string scratch = {};  ///< folder for temporary folders; "": as in TempDir
  /// Whether started processes end with this process, however it ends (supervise()).
  bool supervised = true;
  std::vector<std::string> path = {};  ///< PATH: folders in which compilers are looked for
  std::string compiler = {};      ///< CXX: name or path of the host compiler; "": the first one that is found
  std::string cuda_home = {};     ///< CUDA_HOME or CUDA_PATH: folder of a CUDA toolkit
  std::string library_path = {};  ///< LD_LIBRARY_PATH
  std::string onnxruntime = {};   ///< LEHR_ONNXRUNTIME: libonnxruntime.so
};

}  // namespace lehr
