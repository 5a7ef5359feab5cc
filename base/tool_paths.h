// Paths of programs, tools and libraries. Values alone, since api/lehr.h includes it.
#pragma once

#include <string>
#include <vector>

namespace lehr {

/// Paths of the program, its tools and libraries, and the folder for temporary files.
struct ToolPaths {
  std::string program = {};            ///< `lehr`, of this version: worker processes run it
  std::string scratch = {};            ///< folder in which temporary folders are made; "" as in TempDir
  bool supervised = true;              ///< started processes end with this one, however it ends (supervise())
  std::vector<std::string> path = {};  ///< PATH: folders in which compilers are searched
  std::string compiler = {};      ///< CXX: name or path of the host compiler; "": the first that is found
  std::string cuda_home = {};     ///< CUDA_HOME, else CUDA_PATH: a CUDA toolkit's folder
  std::string library_path = {};  ///< LD_LIBRARY_PATH
  std::string onnxruntime = {};   ///< LEHR_ONNXRUNTIME: libonnxruntime.so
};

}  // namespace lehr
