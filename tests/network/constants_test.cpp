// Tests of constants in files of their own, which may come from anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model_folders.h"
#include "network/constants.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct Folders : ModelFolders {
  /// Returns the elements of a constant of `count` there, or the sentence that refuses it.
  std::string read(const std::string& location, const std::string& offset, const std::string& length,
                   std::int64_t count) const {
    std::string text;
    try {
      const OnnxModel it = model(bytes_field(5, tensor(location, offset, length, count)));
      for (const float value : f32_elements(it, it.constants[0]))
        text += std::to_string(static_cast<int>(value));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.what();
    }
    return text;
  }
};

TEST(Constants, AreReadFromBelowTheModelsFolderAlone) {
  const Folders folders;
  EXPECT_EQ(folders.read("weights", "", "", 4), "1234");
  EXPECT_EQ(folders.read("below/w", "4", "8", 2), "23");
  EXPECT_EQ(folders.read("good_link", "8", "", 2), "34");
  EXPECT_THAT(folders.read("../outside", "", "", 4), HasSubstr("leads upwards"));
  EXPECT_THAT(folders.read("below/../../outside", "", "", 4), HasSubstr("leads upwards"));
  EXPECT_THAT(folders.read(folders.root() + "/outside", "", "", 4), HasSubstr("an absolute path"));
  EXPECT_THAT(folders.read("link", "", "", 4), HasSubstr("a link that leads elsewhere"));
  EXPECT_THAT(folders.read("", "", "", 4), HasSubstr("which is no file"));
}

TEST(Constants, HaveAsManyBytesAsTheirShapeSays) {
  const Folders folders;
  EXPECT_THAT(folders.read("weights", "", "", 5), HasSubstr("ends before the elements of 'w'"));
  EXPECT_THAT(folders.read("weights", "8", "", 3), HasSubstr("ends before the elements of 'w'"));
  EXPECT_THAT(folders.read("weights", "18446744073709551615", "", 2), HasSubstr("'18446744073709551615'"));
  EXPECT_THAT(folders.read("weights", "9223372036854775807", "", 2), HasSubstr("ends before"));
  EXPECT_THAT(folders.read("weights", "", "12", 4), HasSubstr("has 12 bytes"));
  EXPECT_THAT(folders.read("nowhere", "", "", 4), HasSubstr("cannot be read"));
  EXPECT_THAT(folders.read("weights", "", "", std::int64_t{1} << 40), HasSubstr("too large"));
}

TEST(Constants, LieInFilesAndInNothingElse) {
  const Folders folders;
  EXPECT_THAT(folders.read("pipe", "", "", 4), HasSubstr("which is a pipe and no file"));
  EXPECT_THAT(folders.read("link_to_pipe", "", "", 4), HasSubstr("which is a pipe and no file"));
  EXPECT_THAT(folders.read("below", "", "", 4), HasSubstr("which is a directory and no file"));
  EXPECT_THAT(folders.read(".", "", "", 4), HasSubstr("which is a directory and no file"));
  EXPECT_THAT(folders.read("device", "", "", 4), HasSubstr("a link that leads elsewhere"));
}

// In a hub's cache, names in one folder are links to contents in another one.
TEST(Constants, OfAModelThatIsALinkMayBeLinksIntoItsRealFolder) {
  const Folders folders;
  const fs::path root = folders.root(), named = root / "snapshots" / "main" / "onnx", blobs = root / "blobs";
  fs::create_directories(named);
  fs::create_directories(blobs);
  std::ofstream(blobs / "aa", std::ios::binary)
      << number_field(1, 8) << bytes_field(8, number_field(2, 17))
      << bytes_field(7, bytes_field(5, Folders::tensor("m.data", "", "", 4)));
  fs::copy_file(root / "outside", blobs / "bb");
  fs::create_symlink("../../../blobs/aa", named / "m.onnx");
  const auto file = [&](const fs::path& model) -> std::string {
    try {
      const OnnxModel it = read_onnx(model.string());
      EXPECT_EQ(f32_elements(it, it.constants[0]), (std::vector<float>{1, 2, 3, 4}));
      return external_file(it, it.constants[0]).string();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.what();
    }
  };
  EXPECT_THAT(file(named / "m.onnx"), HasSubstr("No such file"));
  fs::create_symlink("../../../blobs/bb", named / "m.data");
  EXPECT_EQ(file(named / "m.onnx"), fs::canonical(blobs / "bb"));
  fs::create_directory_symlink("main", root / "snapshots" / "v1");
  EXPECT_EQ(file(root / "snapshots" / "v1" / "onnx" / "m.onnx"), fs::canonical(blobs / "bb"));
  fs::create_symlink(named / "m.onnx", root / "twice.onnx");
  fs::create_symlink(named / "m.data", root / "m.data");
  EXPECT_EQ(file(root / "twice.onnx"), fs::canonical(blobs / "bb"));
  // Links that an archive can bring with it lead nowhere else.
  for (const fs::path& match : {root / "outside", fs::path("/etc/passwd"), fs::path("../../../outside")}) {
    fs::remove(named / "m.data");
    fs::create_symlink(match, named / "m.data");
    EXPECT_THAT(file(named / "m.onnx"), HasSubstr("a link that leads elsewhere")) << match;
  }
  fs::remove(named / "m.data");
  fs::create_symlink("../../../blobs/bb", named / "m.data");
  fs::remove(named / "m.onnx");
  fs::copy_file(blobs / "aa", named / "m.onnx");
  EXPECT_THAT(file(named / "m.onnx"), HasSubstr("a link that leads elsewhere"));
}

}  // namespace
}  // namespace lehr::testing
