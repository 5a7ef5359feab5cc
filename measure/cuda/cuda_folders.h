// Folders in which CUDA's run-time libraries (NVRTC, cuBLASLt) may be if the dynamic loader does not find
// them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lehr {

/// Returns the existing folders that have libnvrtc.so.* or libcublasLt.so.*, each once, in this order:
/// folders of the toolkit `cuda_home` (CUDA_HOME; "": not set), of the toolkit whose nvcc is in `search_path`
/// (PATH), of <root>/usr/local/cuda, of <root>/usr/local/cuda-*, the newest first, and of the wheels (pip's
/// nvidia-cuda-nvrtc and nvidia-cublas) that the Python of a folder in `search_path` sees. `root` is set by
/// tests only.
std::vector<std::string> cuda_library_folders(std::span<const std::string> search_path,
                                              const std::string& cuda_home, const std::string& root = "");

}  // namespace lehr
