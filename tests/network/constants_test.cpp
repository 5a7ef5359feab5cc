// Constants in files of their own, which may come from anywhere, and rewriting a model twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/protobuf.h"
#include "graph_text.h"
#include "network/constants.h"
#include "network/rewrite.h"

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
    mkfifo((root_ / "model" / "pipe").c_str(), 0600);
    fs::create_symlink("pipe", root_ / "model" / "link_to_pipe");
    fs::create_symlink("/dev/zero", root_ / "model" / "device");
  }
  ~Folders() { fs::remove_all(root_); }

  static std::string tensor(const std::string& location, const std::string& offset, const std::string& length,
                            std::int64_t count, OnnxType type = OnnxType::kF32) {
    const auto entry = [](const char* key, const std::string& value) {
      return bytes_field(13, bytes_field(1, key) + bytes_field(2, value));
    };
    std::string tensor = number_field(1, count) + number_field(2, static_cast<std::int64_t>(type)) +
                         bytes_field(8, "w") + number_field(14, 1) + entry("location", location);
    if (!offset.empty()) tensor += entry("offset", offset);
    if (!length.empty()) tensor += entry("length", length);
    return tensor;
  }

  OnnxModel model(const std::string& graph) const {
    OnnxModel model =
        parse_onnx(std::make_shared<std::string>(number_field(1, 8) + bytes_field(8, number_field(2, 17)) +
                                                 bytes_field(7, graph)),
                   "it");
    model.folder = (root_ / "model").string();
    return model;
  }

  /// The elements of a constant of `count` there, or the sentence that refuses it.
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

  /// The files that a model with this graph needs beside it, or the sentence that refuses it.
  std::string files(const std::string& graph) const {
    try {
      const OnnxModel it = model(graph);
      const RewrittenModel rewritten = rewrite(it, infer_shapes(it, {}), {});
      EXPECT_EQ(rewritten.external, external_files(it));
      std::string text;
      for (const auto& [place, file] : rewritten.external)
        text += place + "=" + file.filename().string() + " ";
      return text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.what();
    }
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

TEST(Constants, LieInFilesAndInNothingElse) {
  const Folders folders;
  EXPECT_THAT(folders.read("pipe", "", "", 4), HasSubstr("which is a pipe and no file"));
  EXPECT_THAT(folders.read("link_to_pipe", "", "", 4), HasSubstr("which is a pipe and no file"));
  EXPECT_THAT(folders.read("below", "", "", 4), HasSubstr("which is a directory and no file"));
  EXPECT_THAT(folders.read(".", "", "", 4), HasSubstr("which is a directory and no file"));
  EXPECT_THAT(folders.read("device", "", "", 4), HasSubstr("a link that leads elsewhere"));
}

// A hub's cache: names in one folder are links to contents in another one.
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
  // What an archive can bring with it leads nowhere else.
  for (const fs::path& place : {root / "outside", fs::path("/etc/passwd"), fs::path("../../../outside")}) {
    fs::remove(named / "m.data");
    fs::create_symlink(place, named / "m.data");
    EXPECT_THAT(file(named / "m.onnx"), HasSubstr("a link that leads elsewhere")) << place;
  }
  fs::remove(named / "m.data");
  fs::create_symlink("../../../blobs/bb", named / "m.data");
  fs::remove(named / "m.onnx");
  fs::copy_file(blobs / "aa", named / "m.onnx");
  EXPECT_THAT(file(named / "m.onnx"), HasSubstr("a link that leads elsewhere"));
}

TEST(Rewrite, NamesEveryFileThatTheModelNeeds) {
  const Folders folders;
  const auto constant = [](const auto&... of) { return bytes_field(5, Folders::tensor(of...)); };
  EXPECT_EQ(
      folders.files(constant("weights", "", "", 4) + constant("./below//w", "8", "8", 1, OnnxType::kS64) +
                    constant("good_link", "", "", 4)),
      "below/w=w good_link=weights weights=weights ");
  for (const auto& [type, count] : {std::pair(OnnxType::kF32, 5),
                                    {OnnxType::kS64, 3},
                                    {OnnxType::kF16, 9},
                                    {OnnxType::kBool, 17},
                                    {OnnxType::kF64, 3},
                                    {OnnxType(22), 33},
                                    {OnnxType(15), 2}}) {
    EXPECT_THAT(folders.files(constant("weights", "", "", count, type)), HasSubstr("ends before"))
        << name_of(type);
    EXPECT_THAT(folders.files(constant("weights", "", "", count - 1, type)), "weights=weights ")
        << name_of(type);
    EXPECT_THAT(folders.files(constant("weights", "", "3", count - 1, type)), HasSubstr("has 3 bytes"));
  }
  EXPECT_THAT(folders.files(constant("weights", "12", "8", 1, OnnxType(99))), HasSubstr("ends before"));
  EXPECT_THAT(folders.files(constant("weights", "17", "", 0)), HasSubstr("ends before"));
  for (const char* wrong : {"pipe", "below", "link", "nowhere", "../outside"})
    EXPECT_THAT(folders.files(constant(wrong, "", "", 4)), HasSubstr("'w'")) << wrong;
}

TEST(Rewrite, NamesTheFilesOfAttributesAndSubgraphs) {
  const Folders folders;
  const auto node = [](const std::string& attribute) {
    return bytes_field(1, bytes_field(2, "c") + bytes_field(4, "Constant") + bytes_field(5, attribute));
  };
  const auto in_graph = [](const std::string& location) {
    return bytes_field(6, bytes_field(5, Folders::tensor(location, "", "", 4)));
  };
  EXPECT_EQ(
      folders.files(node(bytes_field(1, "value") + bytes_field(5, Folders::tensor("weights", "", "", 4)))),
      "weights=weights ");
  EXPECT_EQ(folders.files(node(in_graph("below/w"))), "below/w=w ");
  EXPECT_EQ(folders.files(node(bytes_field(6, node(in_graph("below/w"))))), "below/w=w ");
  EXPECT_THAT(folders.files(node(in_graph("pipe"))), HasSubstr("a pipe"));
  EXPECT_THAT(folders.files(node(bytes_field(5, Folders::tensor("link", "", "", 4)))),
              HasSubstr("leads elsewhere"));
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
