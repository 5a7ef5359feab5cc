// Tests of the search for the libraries of wheels, in a made-up file system.
#include "measure/host/environment_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "measure/system/temp_dir.h"

namespace lehr {
namespace {

using ::testing::ElementsAre;

TEST(EnvironmentFolders, AreThoseOfVirtualEnvironmentsInThePathThatHoldLibraries) {
  const TempDir directory;
  const std::string root = std::filesystem::canonical(directory.path()).string();
  const auto put = [&](const std::string& path) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path).put('x');
  };
  for (const char* environment : {"/with", "/without", "/conda"})
    put(std::string(environment) + "/bin/python");
  for (const char* environment : {"/with", "/without"}) put(std::string(environment) + "/pyvenv.cfg");
  for (const char* environment : {"/with", "/conda"}) put(std::string(environment) + "/lib/libdnnl.so.3");
  put("/without/lib/python3.11/site-packages/some.py");
  const std::vector<std::string> path = {root + "/without/bin", root + "/missing/bin", "",
                                         root + "/with/bin",    root + "/conda/bin",   root + "/with/bin"};
  EXPECT_THAT(environment_library_folders(path), ElementsAre(root + "/with/lib"));
}

}  // namespace
}  // namespace lehr
