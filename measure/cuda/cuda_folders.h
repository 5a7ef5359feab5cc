// Where CUDA's run-time libraries (NVRTC, cuBLASLt) lie when the dynamic loader does not know it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lehr {

/// Existing folders that hold libnvrtc.so.* or libcublasLt.so.*, the most likely first, none twice:
/// of the toolkit `cuda_home` (CUDA_HOME; "" = not set), of the toolkit whose nvcc is in `search_path`
/// (PATH), of <root>/usr/local/cuda and <root>/usr/local/cuda-*, newest first, and of the wheels (pip's
/// nvidia-cuda-nvrtc and nvidia-cublas) that the Python of a folder in `search_path` sees. `root` is for
/// tests.
std::vector<std::string> cuda_library_folders(std::span<const std::string> search_path,
                                              const std::string& cuda_home, const std::string& root = "");

}  // namespace lehr
