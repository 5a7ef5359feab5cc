// Tests of the search for CUDA's libraries, in a made-up file system.
#include "measure/cuda/cuda_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "measure/system/temp_dir.h"

namespace lehr {
namespace {

using ::testing::ElementsAre;

class CudaFolders : public ::testing::Test {
 protected:
  /// Puts an empty file below the root, with its folders.
  void put(const std::string& path) {
    std::filesystem::create_directories(std::filesystem::path(root() + path).parent_path());
    std::ofstream(root() + path).put('x');
  }
  std::string root() const { return std::filesystem::canonical(directory_.path()).string(); }
  std::vector<std::string> found(std::vector<std::string> search_path, const std::string& home = "") {
    for (std::string& folder : search_path) folder = root() + folder;
    std::vector<std::string> folders =
        cuda_library_folders(search_path, home.empty() ? home : root() + home, root());
    for (std::string& folder : folders) folder = folder.substr(root().size());
    return folders;
  }

 private:
  TempDir directory_;
};

TEST_F(CudaFolders, AreNoneWhereNothingIsInstalled) {
  EXPECT_THAT(found({"/usr/bin", "/missing"}, "/opt/cuda"), ElementsAre());
}

TEST_F(CudaFolders, OfToolkitsComeNewestFirstAndOnce) {
  put("/usr/local/cuda-12.4/lib64/libnvrtc.so.12");
  put("/usr/local/cuda-13.0/targets/x86_64-linux/lib/libnvrtc.so.13");
  std::filesystem::create_directory_symlink("targets/x86_64-linux/lib",
                                            root() + "/usr/local/cuda-13.0/lib64");
  EXPECT_THAT(found({}),
              ElementsAre("/usr/local/cuda-13.0/targets/x86_64-linux/lib", "/usr/local/cuda-12.4/lib64"));
  std::filesystem::create_directory_symlink("cuda-12.4", root() + "/usr/local/cuda");
  EXPECT_THAT(found({}),
              ElementsAre("/usr/local/cuda-12.4/lib64", "/usr/local/cuda-13.0/targets/x86_64-linux/lib"));
}

TEST_F(CudaFolders, OfCudaHomeAndOfNvccsToolkitComeBeforeUsrLocal) {
  put("/usr/local/cuda/lib64/libnvrtc.so.13");
  put("/opt/a/bin/nvcc");
  put("/opt/a/lib/libnvrtc.so.13");
  put("/opt/b/lib64/libcublasLt.so.13");
  EXPECT_THAT(found({"/usr/bin", "/opt/a/bin"}, "/opt/b"),
              ElementsAre("/opt/b/lib64", "/opt/a/lib", "/usr/local/cuda/lib64"));
}

TEST_F(CudaFolders, OfWheelsAreThoseOfThePythonInThePath) {
  put("/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  put("/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
  put("/usr/lib/python3.10/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  put("/usr/lib/python3.10/dist-packages/nvidia/cublas/lib/libcublasLt.so.12");
  EXPECT_THAT(found({"/opt/torch/.venv/bin", "/usr/bin"}),
              ElementsAre("/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cudnn/lib",
                          "/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib",
                          "/usr/lib/python3.10/dist-packages/nvidia/cuda_nvrtc/lib",
                          "/usr/lib/python3.10/dist-packages/nvidia/cublas/lib"));
}

}  // namespace
}  // namespace lehr
