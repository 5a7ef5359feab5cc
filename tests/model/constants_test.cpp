// Constants in files of their own, which may come from anywhere, and rewriting a model twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/protobuf.h"
#include "graph_text.h"
#include "model/constants.h"
#include "model/rewrite.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A model's folder within another one, both with a file of four elements: 1, 2, 3, 4.
class Folders {
 public:
  Folders() : root_(fs::temp_directory_path() / ("lehr_constants_" + std::to_string(getpid()))) {
    fs::create_directories(root_ / "model" / "below");
    const float values[] = {1, 2, 3, 4};
    for (const fs::path& path :
         {root_ / "outside", root_ / "model" / "weights", root_ / "model" / "below" / "w"})
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(values), sizeof values);
    fs::create_symlink(root_ / "outside", root_ / "model" / "link");
    fs::create_symlink("weights", root_ / "model" / "good_link");
  }
  ~Folders() { fs::remove_all(root_); }

  /// The elements of a constant of `shape` there, or the sentence that refuses it.
  std::string read(const std::string& location, const std::string& offset, const std::string& length,
                   std::int64_t count) const {
    const auto entry = [](const char* key, const std::string& value) {
      return bytes_field(13, bytes_field(1, key) + bytes_field(2, value));
    };
    std::string tensor = number_field(1, count) + number_field(2, 1) + bytes_field(8, "w") +
                         number_field(14, 1) + entry("location", location);
    if (!offset.empty()) tensor += entry("offset", offset);
    if (!length.empty()) tensor += entry("length", length);
    const std::string graph = bytes_field(5, tensor);
    std::string text;
    try {
      OnnxModel model =
          parse_onnx(std::make_shared<std::string>(number_field(1, 8) + bytes_field(8, number_field(2, 17)) +
                                                   bytes_field(7, graph)),
                     "it");
      model.folder = (root_ / "model").string();
      for (const float value : f32_elements(model, model.constants[0]))
        text += std::to_string(static_cast<int>(value));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.what();
    }
    return text;
  }
  std::string root() const { return root_.string(); }

 private:
  fs::path root_;
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

TEST(Rewrite, KeepsWhatItDoesNotReplaceAndIsNotDoneTwice) {
  const OnnxModel model = onnx_model(R"(
    input x f32 1x3x8x8
    constant w f32 4x3x3x3
    constant b f32 4
    constant unread f32 4
    value a f32 1x4x8x8
    a = Conv(x, w, b) pads=1,1,1,1
    y = Relu(a)
    z = Softmax(y)
    output z
  )");
  const ModelShapes shapes = infer_shapes(model, {});
  const ModelWork work = work_of(model, shapes);
  ASSERT_EQ(work.tasks.size(), 1u);
  EXPECT_EQ(rewrite(model, shapes, {}).bytes, *model.bytes);
  const Replacement all[] = {{&work.tasks[0].places[0], work.tasks[0].workload, 2}};
  const RewrittenModel rewritten = rewrite(model, shapes, all);
  EXPECT_EQ(rewritten.replaced, 1u);
  EXPECT_TRUE(rewritten.kept.empty());
  const OnnxModel again = parse_onnx(std::make_shared<std::string>(rewritten.bytes), "it");
  ASSERT_EQ(again.nodes.size(), 2u);
  EXPECT_EQ(again.nodes[0].op, kFusedOperator);
  EXPECT_EQ(again.nodes[0].whole("threads", 0), 2);
  EXPECT_EQ(again.nodes[1].record, model.nodes[2].record);
  EXPECT_EQ(again.constants.size(), 3u);  // what nobody has read is not ours to drop
  EXPECT_TRUE(again.between.empty());
  EXPECT_THROW(rewrite(again, infer_shapes(again, {}), all), Error);
}

}  // namespace
}  // namespace lehr::testing
