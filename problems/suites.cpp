#include "problems/suites.h"

namespace lehr {
namespace {

// The networks of "Learning to Optimize Tensor Programs" (https://arxiv.org/abs/1805.08166), one image or one
// step, f32. ResNet-18 (https://arxiv.org/abs/1512.03385) in the order of that paper's C1 to C12; MobileNet
// (https://arxiv.org/abs/1704.04861), table 1; the language model of https://arxiv.org/abs/1409.2329 with 650
// units and 10 000 words; DQN (https://doi.org/10.1038/nature14236); DCGAN's generator
// (https://arxiv.org/abs/1511.06434), figure 1.
constexpr std::string_view kAutotvm = R"(# ResNet-18
conv2d c=3 h=224 w=224 k=64 r=7 s=7 stride=2 pad=3
conv2d c=64 h=56 w=56 k=64 r=3 s=3 pad=1
conv2d c=64 h=56 w=56 k=64 r=1 s=1
conv2d c=64 h=56 w=56 k=128 r=3 s=3 stride=2 pad=1
conv2d c=64 h=56 w=56 k=128 r=1 s=1 stride=2
conv2d c=128 h=28 w=28 k=128 r=3 s=3 pad=1
conv2d c=128 h=28 w=28 k=256 r=3 s=3 stride=2 pad=1
conv2d c=128 h=28 w=28 k=256 r=1 s=1 stride=2
conv2d c=256 h=14 w=14 k=256 r=3 s=3 pad=1
conv2d c=256 h=14 w=14 k=512 r=3 s=3 stride=2 pad=1
conv2d c=256 h=14 w=14 k=512 r=1 s=1 stride=2
conv2d c=512 h=7 w=7 k=512 r=3 s=3 pad=1
gemm m=1 n=1000 k=512 b=f32:column:constant
# MobileNet
conv2d c=3 h=224 w=224 k=32 r=3 s=3 stride=2 pad=1
conv2d c=32 h=112 w=112 k=32 r=3 s=3 pad=1 groups=32
conv2d c=32 h=112 w=112 k=64 r=1 s=1
conv2d c=64 h=112 w=112 k=64 r=3 s=3 stride=2 pad=1 groups=64
conv2d c=64 h=56 w=56 k=128 r=1 s=1
conv2d c=128 h=56 w=56 k=128 r=3 s=3 pad=1 groups=128
conv2d c=128 h=56 w=56 k=128 r=1 s=1
conv2d c=128 h=56 w=56 k=128 r=3 s=3 stride=2 pad=1 groups=128
conv2d c=128 h=28 w=28 k=256 r=1 s=1
conv2d c=256 h=28 w=28 k=256 r=3 s=3 pad=1 groups=256
conv2d c=256 h=28 w=28 k=256 r=1 s=1
conv2d c=256 h=28 w=28 k=256 r=3 s=3 stride=2 pad=1 groups=256
conv2d c=256 h=14 w=14 k=512 r=1 s=1
conv2d c=512 h=14 w=14 k=512 r=3 s=3 pad=1 groups=512
conv2d c=512 h=14 w=14 k=512 r=1 s=1
conv2d c=512 h=14 w=14 k=512 r=3 s=3 stride=2 pad=1 groups=512
conv2d c=512 h=7 w=7 k=1024 r=1 s=1
conv2d c=1024 h=7 w=7 k=1024 r=3 s=3 pad=1 groups=1024
conv2d c=1024 h=7 w=7 k=1024 r=1 s=1
gemm m=1 n=1000 k=1024 b=f32:column:constant
# LSTM language model
gemm m=1 n=2600 k=650 b=f32:row:constant
gemm m=1 n=10000 k=650 b=f32:row:constant
# DQN
conv2d c=4 h=84 w=84 k=32 r=8 s=8 stride=4
conv2d c=32 h=20 w=20 k=64 r=4 s=4 stride=2
conv2d c=64 h=9 w=9 k=64 r=3 s=3
gemm m=1 n=512 k=3136 b=f32:row:constant
gemm m=1 n=18 k=512 b=f32:row:constant
# DCGAN
gemm m=1 n=16384 k=100 b=f32:row:constant
)";

constexpr std::string_view kAutotvmLeftOut[] = {
    "LSTM language model: its gates are element-wise between products, and no workload of their own",
    "DCGAN: its four transposed convolutions have no family"};

constexpr Suite kSuites[] = {{"autotvm", kAutotvm, kAutotvmLeftOut}};

}  // namespace

std::span<const Suite> suites() {
  return kSuites;
}

}  // namespace lehr
