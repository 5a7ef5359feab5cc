// Tests of `lehr model` on a file, its errors and its document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support.h"
#include "tests/network/graph_text.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSmallNetwork = R"(
  input x f32 Nx3x16x16
  constant w f32 8x3x3x3
  constant v f32 8x8x3x3
  constant b f32 8
  a = Conv(x, w, b) pads=1,1,1,1
  c = Relu(a)
  d = Conv(c, v) pads=1,1,1,1
  e = Add(d, c)
  f = ConvTranspose(e, v)
  output f
)";

TEST(Model, ListsWorkloadsAndWhatIsLeft) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "net.onnx", std::ios::binary) << onnx_bytes(kSmallNetwork, 99);
  const auto lehr = [&](const std::string& line) { return run_lehr(words(line), scratch.path()); };
  const Ran table = lehr("model net.onnx --dim N=2 --device cpu --threads 1");
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("2 workloads in 2 places, 100.0 %"), HasSubstr("conv2d n=2 h=16 w=16 c=3 k=8"),
                    HasSubstr("conv2d_cpu"), HasSubstr("not covered: 1 x ConvTranspose")));
  EXPECT_THAT(table.err, HasSubstr("opset 99 is newer"));
  const json document = json::parse(lehr("model net.onnx --input x=1x3x16x16 --device cpu --json").out);
  ASSERT_EQ(document["tasks"].size(), 2u);
  EXPECT_THAT(document["tasks"][0]["workload"].get<std::string>(), HasSubstr("n=1"));
  EXPECT_EQ(document["tasks"][0]["places"][0]["nodes"].size(), 2u);
  EXPECT_EQ(document["gaps"].size(), 1u);
  const Ran open = lehr("model net.onnx");
  EXPECT_THAT(open.out, HasSubstr("not known: input 'x' (Nx3x16x16)\nsay the sizes: --dim N=1\n"));
}

// The flags that `lehr model` prints for unknown sizes are enough, and it prints no flags where nothing is
// missing.
TEST(Model, SaysWhichSizesAreMissing) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "two.onnx", std::ios::binary) << onnx_bytes(R"(
    input x f32 Nx64
    input z f32 ?x8
    constant w f32 64x8
    p = MatMul(x, w)
    q = Add(p, z)
    output q
  )");
  const auto lehr = [&](const std::string& line) { return run_lehr(words(line), scratch.path()); };
  EXPECT_THAT(lehr("model two.onnx").out, HasSubstr("say the sizes: --dim N=1 --input z=1x8\n"));
  const json document = json::parse(lehr("model two.onnx --json").out);
  EXPECT_EQ(document["missing_sizes"], (json{"--dim N=1", "--input z=1x8"}));
  for (const char* line : {"tune --model two.onnx", "optimize two.onnx"}) {
    const Ran ran = lehr(line);
    EXPECT_EQ(ran.code, 1) << line;
    EXPECT_THAT(ran.err, HasSubstr("two.onnx has no convolution and no product that could be tuned; sizes of "
                                   "inputs are not known: say them with --dim N=1 --input z=1x8\n"))
        << line;
  }
  const Ran bound = lehr("model two.onnx --dim N=1 --input z=1x8 --device cpu");
  EXPECT_THAT(bound.out, AllOf(HasSubstr("gemm m=1 n=8 k=64"), Not(HasSubstr("say the sizes"))));
}

TEST(Model, RefusesInASentence) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "net.onnx", std::ios::binary) << onnx_bytes(kSmallNetwork);
  std::ofstream(scratch.path() / "cut.onnx", std::ios::binary) << onnx_bytes(kSmallNetwork).substr(0, 200);
  std::ofstream(scratch.path() / "lfs.onnx") << "version https://git-lfs.github.com/spec/v1\n";
  for (const auto& [line, sentence] :
       {std::pair{"model", "lehr model needs a file"},
        std::pair{"model none.onnx", "none.onnx cannot be read"}, std::pair{"model cut.onnx", "cut.onnx "},
        std::pair{"model net.onnx --dim M=2", "there are N"},
        std::pair{"model net.onnx --dim N", "it is to be a name and its size"},
        std::pair{"model net.onnx --dim N=0", "--dim N"},
        std::pair{"model net.onnx --dim N=3..2", "--dim N=3..2: the range ends before it begins"},
        std::pair{"model net.onnx --dim N=1..", "--dim N"},
        std::pair{"model net.onnx --dim N=2 --dim N=3", "--dim N is given twice"},
        std::pair{"model net.onnx --dim N=2 --dim N=2", "--dim N is given twice"},
        std::pair{"model net.onnx --input x=1x3x16x16 --input x=2x3x16x16", "--input x is given twice"},
        std::pair{"model net.onnx --dim N=2 --input x=3x3x16x16", "its dimension 1 is 2"},
        std::pair{"model lfs.onnx", "lfs.onnx is a Git LFS pointer"},
        std::pair{"apply lfs.onnx --bundle . --out new", "lfs.onnx is a Git LFS pointer"},
        std::pair{"model net.onnx --input x=1x3", "it has 4 dimensions"}}) {
    const Ran ran = run_lehr(words(line), scratch.path());
    EXPECT_EQ(ran.code, 1) << line;
    EXPECT_EQ(ran.out, "") << line;
    EXPECT_THAT(ran.err, HasSubstr(sentence)) << line;
  }
}

}  // namespace
}  // namespace lehr::testing
