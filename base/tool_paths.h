// Where things are on a machine. Values alone, since api/lehr.h includes it.
#pragma once

#include <string>
#include <vector>

namespace lehr {

/// Where the program, its tools and libraries are, and where temporary files go.
struct ToolPaths {
  std::string program = {};  ///< `lehr`, of this version: what is started runs in processes of it
  std::string scratch = {};  ///< where temporary folders are made; "" as in TempDir
  bool supervised = true;    ///< what is started ends with this process, however it ends (supervise())
  std::vector<std::string> path = {};  ///< PATH: where compilers are looked for
  std::string compiler = {};      ///< CXX: name or path of the host compiler; "" = the first that is found
  std::string cuda_home = {};     ///< CUDA_HOME, else CUDA_PATH: a CUDA toolkit's folder
  std::string library_path = {};  ///< LD_LIBRARY_PATH
  std::string onnxruntime = {};   ///< LEHR_ONNXRUNTIME: libonnxruntime.so
};

}  // namespace lehr
