// Tests of files as they are, cut anywhere, changed anywhere, and of other kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <random>

#include "base/error.h"
#include "graph_text.h"
#include "network/matches.h"
#include "network/protobuf.h"
#include "network/shapes.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kNetwork = R"(
  input x f32 Nx3x8x8
  constant w f32 4x3x3x3
  constant b f32 4 = 1 2 3 4
  constant s s64 2 = 1 -1
  c = Conv(x, w, b) pads=1,1,1,1
  r = Relu(c)
  y = Reshape(r, s) allowzero=0
  output y
)";

std::string refusal(const std::string& bytes) {
  try {
    parse_onnx(std::make_shared<std::string>(bytes), "file.onnx");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return error.what();
  }
  return "accepted";
}

TEST(Onnx, ReadsAGraph) {
  const OnnxModel model = onnx_model(kNetwork);
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.opset(), 17);
  EXPECT_EQ(model.producer, "a test");
  ASSERT_EQ(model.nodes.size(), 3u);
  EXPECT_EQ(model.nodes[0].op, "Conv");
  EXPECT_THAT(model.nodes[0].inputs, ElementsAre("x", "w", "b"));
  EXPECT_THAT(model.nodes[0].wholes("pads"), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(model.nodes[0].attribute("strides"), nullptr);
  EXPECT_EQ(called(model.nodes[1], 1), "Relu number 2");
  ASSERT_EQ(model.constants.size(), 3u);
  EXPECT_EQ(element_count(model.constants[0]), 108);
  EXPECT_THAT(*floats_of(model.constants[1], 8), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(floats_of(model.constants[1], 3));
  EXPECT_THAT(*wholes_of(model.constants[2], 8), ElementsAre(1, -1));
  EXPECT_EQ((*model.inputs[0].dims)[0].name, "N");
  EXPECT_EQ((*model.inputs[0].dims)[1].size, 3);
  EXPECT_TRUE(model.warnings.empty());
}

TEST(Onnx, RefusesWhatIsNoModel) {
  EXPECT_EQ(refusal("\x08\x08"), "file.onnx is no ONNX model: it has no graph");
  EXPECT_THAT(refusal("SQLite format 3"), HasSubstr("file.onnx "));
  EXPECT_THAT(refusal(std::string(100, '\xff')), HasSubstr("file.onnx "));
  EXPECT_EQ(refusal(onnx_bytes(kNetwork, 6)), "file.onnx is of opset 6: 7 and newer are read");
  EXPECT_EQ(refusal(onnx_bytes(kNetwork, 17, 2)), "file.onnx is of IR version 2: 3 and newer are read");
  EXPECT_EQ(refusal(onnx_bytes("input x f32 1\n y = Relu(z)")),
            "file.onnx has Relu number 1 reading 'z', which nothing before it makes");
  EXPECT_THAT(refusal(onnx_bytes("input x f32 1\n y = Add(x, z)\n z = Relu(y)")), HasSubstr("reading 'z'"));
  EXPECT_THAT(refusal(onnx_bytes("input x f32 1\n y = Relu(x)\n y = Abs(x)")),
              HasSubstr("two makers of 'y'"));
  EXPECT_THAT(refusal(onnx_bytes("input x f32 1\n output y")), HasSubstr("gives 'y', which nothing makes"));
  EXPECT_THROW(read_onnx("/nowhere.onnx"), Error);
  EXPECT_THROW(read_onnx("/dev/zero"), Error);
  EXPECT_THROW(read_onnx("/"), Error);
}

TEST(Onnx, SaysWhatAFileIsInstead) {
  using namespace std::string_literals;
  const std::string filler(300, 'x');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is empty"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 10\n", "is a Git LFS pointer"},
      {"\x1F\x8B\x08\0"s + filler, "is gzipped"},
      {"\xFD"
       "7zXZ\0"s +
           filler,
       "is compressed by xz"},
      {"BZh9" + filler, "is compressed by bzip2"},
      {"\x28\xB5\x2F\xFD" + filler, "is compressed by zstd"},
      {std::string(257, '\0') + "ustar", "is a tar archive"},
      {"PK\3\4....net.onnx" + filler, "is a zip archive: unpack it"},
      {"PK\3\4....net/data.pkl" + filler, "torch.onnx.export"},
      {"PK\3\4....w.npy" + filler, "is a zip archive of NumPy's arrays"},
      {"PK\5\6" + std::string(18, '\0'), "is a zip archive"},
      {"\x80\x02\x8a\nl\xfc\x9c" + filler, "is a pickle"},
      {"\x80\x04\x95" + filler, "is a pickle"},
      {"\n<!DOCTYPE html><HTML>", "is a page of HTML"},
      {"\xEF\xBB\xBF<html lang=en>", "is a page of HTML"},
      {"<?xml version=\"1.0\"?><net>", "is XML"},
      {" {\"graph\": {}}", "is JSON"},
      {"\x10\0\0\0\0\0\0\0{\"w\": {}}      "s, "has weights alone, in the format safetensors"},
      {"\x1C\0\0\0TFL3"s + filler, "is a TensorFlow Lite model"},
      {"\x20\0\0\0ORTM"s + filler, "is of ONNX Runtime's own format (ORT)"},
      {"\x89HDF\r\n\x1A\n" + filler, "is an HDF5 file"},
      {"GGUF\3" + filler, "is a GGUF file"},
      {"\x93NUMPY\1" + filler, "is an array of NumPy's"},
      {"ir_version: 8\ngraph {", "is an ONNX model written as text"},
      {"<\n  ir_version: 7,\n  opset_import: [\"\" : 10]\n>\n", "is an ONNX model written as text"},
      {std::string(4096, '\0'), "has nothing but zeros"}};
  for (const auto& [bytes, words] : cases) {
    EXPECT_THAT(refusal(bytes), HasSubstr("file.onnx " + words.substr(0, words.find("torch"))));
    EXPECT_THAT(refusal(bytes), HasSubstr(words));
    EXPECT_THAT(refusal(bytes), HasSubstr(": ")) << "and what would be right";
  }
}

TEST(Onnx, ASparseTensorIsAConstantWithZeros) {
  std::deque<OnnxModel> models;  // tensors are views of their bytes
  const auto tensor = [&](const std::string& line) -> const OnnxTensor& {
    return models.emplace_back(onnx_model(line + "\ninput x f32 1\n y = Relu(x)")).constants.at(0);
  };
  const OnnxTensor& linear = tensor("sparse w f32 2x3 = 1:4 5:0.5");
  EXPECT_EQ(linear.name, "w");
  EXPECT_EQ(linear.dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(floats_of(linear, 6), (std::vector<float>{0, 4, 0, 0, 0, 0.5}));
  EXPECT_EQ(floats_of(linear, 5), std::nullopt);
  EXPECT_EQ(floats_of(tensor("sparse w f32 2x3 = 0,1:4 1,2:0.5"), 6), floats_of(linear, 6));
  EXPECT_EQ(wholes_of(tensor("sparse w s64 4 = 3:7"), 4), (std::vector<std::int64_t>{0, 0, 0, 7}));
  EXPECT_EQ(floats_of(tensor("sparse w f32 2x3 ="), 6), std::vector<float>(6));
  for (const char* wrong : {"6:1", "-1:1", "1:1 1:2", "0,3:1", "2,0:1", "0,-1:1"})
    EXPECT_EQ(floats_of(tensor(std::string("sparse w f32 2x3 = ") + wrong), 6), std::nullopt) << wrong;
  // A short file that claims to be large is not believed.
  EXPECT_EQ(floats_of(tensor("sparse w f32 1000000x1000000 = 3:1"), std::int64_t{1} << 62), std::nullopt);
}

TEST(Onnx, DefaultsOfInputsAreNoConstants) {
  const std::string graph =
      "input x f32 1x4\n input s f32 4\n constant s f32 4\n constant t f32 4\n y = Mul(x, s)";
  for (const std::int64_t ir : {3, 4, 8}) {
    const OnnxModel model = parse_onnx(std::make_shared<std::string>(onnx_bytes(graph, 13, ir)), "it");
    const GraphShapes shapes = infer_shapes(model, {});
    EXPECT_EQ(shapes.of("s").fixed, ir == 3);
    EXPECT_EQ(shapes.of("s").constant != nullptr, ir == 3);
    EXPECT_TRUE(shapes.of("t").fixed);
    EXPECT_EQ(whole_shape(shapes.of("y")), (std::vector<std::int64_t>{1, 4})) << ir;
    EXPECT_EQ(model.warnings.size(), ir == 3 ? 0u : 1u);
  }
  const std::string any = "input x f32 1x4\n input s f32 n\n constant s f32 4\n y = Mul(x, s)";
  const OnnxModel model = parse_onnx(std::make_shared<std::string>(onnx_bytes(any)), "it");
  const GraphShapes shapes = infer_shapes(model, {});
  EXPECT_EQ(whole_shape(shapes.of("s")), std::vector<std::int64_t>{4})
      << "what is there where callers give none";
  EXPECT_TRUE(shapes.unknown.empty());
}

TEST(Onnx, WarnsOfWhatIsNewer) {
  const OnnxModel model = parse_onnx(std::make_shared<std::string>(onnx_bytes(kNetwork, 99, 50)), "it");
  EXPECT_THAT(model.warnings,
              ElementsAre(HasSubstr("IR version 50 is newer"), HasSubstr("opset 99 is newer")));
}

// A file of any length gives at most a sentence, and never an element that is not there.
TEST(Onnx, CutAnywhereItIsRefusedOrRead) {
  const std::string whole = onnx_bytes(kNetwork);
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size)
    refused += refusal(whole.substr(0, size)) != "accepted";
  EXPECT_GT(refused, static_cast<int>(whole.size()) * 9 / 10);
  EXPECT_EQ(refusal(whole), "accepted");
}

TEST(Onnx, ChangedAnywhereItIsRefusedOrRead) {
  const auto seed = static_cast<unsigned>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string whole = onnx_bytes(kNetwork);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = whole;
    for (unsigned times = random() % 4 + 1; times > 0; --times)
      changed[random() % changed.size()] = static_cast<char>(random());
    try {
      const OnnxModel model = parse_onnx(std::make_shared<std::string>(changed), "it");
      matches_of(model, infer_shapes(model, {}));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser) << error.what();
    }
  }
}

TEST(Wire, KeepsWithinWhatItWasGiven) {
  Wire wire(
      "\x08\x96\x01\x12\x03"
      "abc");
  ASSERT_TRUE(wire.next());
  EXPECT_EQ(wire.field(), 1u);
  EXPECT_EQ(wire.number(), 150u);
  EXPECT_THROW(wire.bytes(), Error);
  ASSERT_TRUE(wire.next());
  EXPECT_EQ(wire.bytes(), "abc");
  EXPECT_FALSE(wire.next());
  const std::string real = f32_field(2, -1.5F);
  Wire written(real);
  ASSERT_TRUE(written.next());
  EXPECT_EQ(written.field(), 2u);
  EXPECT_EQ(written.f32(), -1.5F);
  for (const std::string_view wrong : {"\x12\x04"
                                       "abc",
                                       "\x08", "\x0b", "\x0d\x01", "\x09\x01", "\x02\x00",
                                       "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"})
    EXPECT_THROW(Wire(wrong).next(), Error) << wrong.size();
}

}  // namespace
}  // namespace lehr::testing
