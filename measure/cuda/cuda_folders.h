// Where CUDA's run-time libraries (NVRTC, cuBLASLt) are if the dynamic loader does not find them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lehr {

/// Returns existing folders that have libnvrtc.so.* or libcublasLt.so.*, the most likely first, each once:
/// those of the toolkit `cuda_home` (CUDA_HOME; "" = not set), of the toolkit whose nvcc is in `search_path`
/// (PATH), of <root>/usr/local/cuda and <root>/usr/local/cuda-*, newest first, and of the wheels (pip's
/// nvidia-cuda-nvrtc and nvidia-cublas) that the Python of a folder in `search_path` sees. `root` is for
/// tests.
std::vector<std::string> cuda_library_folders(std::span<const std::string> search_path,
                                              const std::string& cuda_home, const std::string& root = "");

}  // namespace lehr
