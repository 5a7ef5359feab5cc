#include "cpu_problems.h"

#include <algorithm>

#include "workload/workload.h"

namespace lehr::testing {

Limits cpu_limits(int vector_bytes, int cores) {
  Limits limits;
  limits.arch = vector_bytes == 64 ? "avx512" : vector_bytes == 32 ? "avx2" : "sse2";
  limits.cores = cores;
  limits.vector_bytes = vector_bytes;
  limits.vector_registers = vector_bytes == 64 ? 32 : 16;
  limits.l1_bytes = 32 << 10;
  limits.l2_bytes = 1 << 20;
  limits.l3_bytes = 32 << 20;
  return limits;
}

const std::vector<std::string>& shapes() {
  static const std::vector<std::string> all = {
      "gemm m=1 n=1 k=1",           "gemm m=7 n=5 k=3",
      "gemm m=33 n=65 k=17",        "gemm m=1 n=300 k=129",
      "gemm m=3 n=47 k=50",         "gemm m=64 n=96 k=128",
      "gemm m=100 n=31 k=70",       "gemm m=16 n=256 k=40 batch=3",
      "gemm m=2 n=130 k=8 batch=2", "gemm m=29 n=200 k=1",
      "gemm m=512 n=512 k=512",     "gemm m=1 n=4096 k=4096",
  };
  return all;
}

// Returns odd sizes, strides, paddings that differ by side, dilation, groups, depthwise; 1x1 in both layouts.
const std::vector<std::string>& convolutions() {
  static const std::vector<std::string> all = {
      "conv2d h=1 w=1 c=1 k=1 r=1 s=1",
      "conv2d h=7 w=9 c=5 k=7 r=3 s=3 pad=1",
      "conv2d h=11 w=13 c=3 k=10 r=7 s=7 stride=2 pad=3",
      "conv2d n=3 h=8 w=6 c=4 k=5 r=3 s=2 stride=1x2 pad=1x0",
      "conv2d h=14 w=15 c=6 k=9 r=3 s=3 pad=2 dilation=2",
      "conv2d h=9 w=21 c=2 k=3 r=2 s=5 stride=3x1 pad=0x2x1x4 dilation=2x1",
      "conv2d n=2 h=10 w=10 c=12 k=18 r=3 s=3 pad=1 groups=3",
      "conv2d h=13 w=12 c=16 k=16 r=3 s=3 stride=2 pad=1 groups=16",
      "conv2d h=10 w=17 c=33 k=20 r=1 s=1 stride=2",
      "conv2d h=6 w=11 c=70 k=29 r=1 s=1",
      "conv2d n=2 h=5 w=7 c=19 k=40 r=1 s=1 layout=nhwc",
      "conv2d n=2 h=5 w=7 c=19 k=6 r=1 s=1",
      "conv2d h=3 w=4 c=2 k=3 r=5 s=5 stride=4 pad=4 dilation=2",
      "conv2d h=40 w=33 c=40 k=28 r=3 s=3 pad=1",
      "conv2d h=30 w=37 c=5 k=6 r=3 s=3 stride=2 pad=1",
      "conv2d n=2 h=17 w=70 c=3 k=13 r=3 s=3 pad=0x2x1x3",
      "conv2d h=3 w=3 c=2 k=1 r=3 s=3",
      "conv2d h=12 w=37 c=4 k=18 r=3 s=3 stride=2 pad=3 dilation=2 groups=2",
  };
  return all;
}

// Returns one filter a channel, or several; both layouts; strides that each copy a line in another way; more
// input than any output needs; a filter that is not written out.
const std::vector<std::string>& depthwise_convolutions() {
  static const std::vector<std::string> all = {
      "conv2d n=2 h=9 w=35 c=5 k=10 r=3 s=3 pad=1 groups=5",
      "conv2d h=17 w=40 c=6 k=6 r=3 s=3 stride=2 pad=1 groups=6",
      "conv2d h=11 w=40 c=3 k=3 r=3 s=3 stride=3x3 pad=0x2x1x4 dilation=2x1 groups=3",
      "conv2d h=9 w=23 c=4 k=4 r=1 s=1 stride=2 groups=4",
      "conv2d h=24 w=21 c=2 k=4 r=19 s=19 pad=9 groups=2",
      "conv2d n=2 h=7 w=7 c=21 k=21 r=3 s=3 pad=1 groups=21 layout=nhwc",
      "conv2d h=12 w=15 c=33 k=33 r=5 s=5 stride=2 pad=2 groups=33 layout=nhwc",
      "conv2d n=2 h=10 w=17 c=16 k=16 r=2 s=3 stride=1x2 pad=2x0x0x3 dilation=1x2 groups=16 layout=nhwc",
      "conv2d h=21 w=22 c=5 k=5 r=19 s=20 pad=9 groups=5 layout=nhwc",
  };
  return all;
}

// Returns convolutions as above with nhwc images: blocks of channels, groups, several filters a channel, gaps
// between pixels.
const std::vector<std::string>& nhwc_convolutions() {
  static const std::vector<std::string> all = {
      "conv2d h=1 w=1 c=1 k=1 r=1 s=1 layout=nhwc",
      "conv2d h=1 w=1 c=4 k=40 r=4 s=4 stride=4 pad=18x19x18x19 dilation=12 layout=nhwc",  // no tap meets it
      "conv2d h=7 w=9 c=5 k=37 r=3 s=3 pad=1 layout=nhwc",
      "conv2d h=11 w=13 c=3 k=20 r=7 s=7 stride=2 pad=3 layout=nhwc",
      "conv2d n=3 h=8 w=6 c=24 k=5 r=3 s=2 stride=1x2 pad=1x0 layout=nhwc",
      "conv2d h=14 w=15 c=21 k=70 r=3 s=3 pad=2 dilation=2 layout=nhwc",
      "conv2d h=9 w=21 c=18 k=33 r=2 s=5 stride=3x1 pad=0x2x1x4 dilation=2x1 layout=nhwc",
      "conv2d n=2 h=10 w=10 c=12 k=54 r=3 s=3 pad=1 groups=3 layout=nhwc",
      "conv2d h=10 w=17 c=33 k=20 r=1 s=1 stride=2 layout=nhwc",
      "conv2d h=12 w=10 c=20 k=40 r=3 s=3 groups=2 layout=nhwc",
      "conv2d h=5 w=9 c=7 k=21 r=3 s=3 pad=1 groups=7 layout=nhwc",
      "conv2d h=3 w=4 c=2 k=3 r=5 s=5 stride=4 pad=4 dilation=2 layout=nhwc",
      "conv2d h=20 w=19 c=40 k=64 r=3 s=3 layout=nhwc",
      "conv2d h=9 w=13 c=6 k=18 r=1 s=3 stride=2x3 pad=1x2 dilation=1x3 groups=2 layout=nhwc",
  };
  return all;
}

std::vector<std::string> all_shapes() {
  std::vector<std::string> all = shapes();
  all.insert(all.end(), convolutions().begin(), convolutions().end());
  all.insert(all.end(), nhwc_convolutions().begin(), nhwc_convolutions().end());
  all.insert(all.end(), depthwise_convolutions().begin(), depthwise_convolutions().end());
  return all;
}

std::vector<std::string> odd_convolutions(Rng& rng, int count) {
  const auto drawn = [&](std::int64_t least, std::uint64_t values) {
    return least + static_cast<std::int64_t>(rng.below(values));
  };
  std::vector<std::string> all;
  while (static_cast<int>(all.size()) < count) {
    Conv2d conv;
    conv.n = drawn(1, 3);
    conv.h = drawn(1, 20);
    conv.w = drawn(1, 40);
    conv.r = drawn(1, 5);
    conv.s = drawn(1, 10);
    conv.stride_h = drawn(1, 3);
    conv.stride_w = drawn(1, 3);
    conv.dilation_h = drawn(1, 3);
    conv.dilation_w = drawn(1, 2);
    for (std::int64_t* pad : {&conv.pad_top, &conv.pad_bottom, &conv.pad_left, &conv.pad_right})
      *pad = std::max<std::int64_t>(0, drawn(-2, 8));
    conv.groups = std::max<std::int64_t>(1, drawn(-2, 6));
    conv.c = conv.groups * drawn(1, 24);
    conv.k = conv.groups * drawn(2, 40);
    conv.layout = rng.below(2) == 0 ? ImageLayout::kNchw : ImageLayout::kNhwc;
    const bool fits = conv.dilation_h * (conv.r - 1) < conv.h + conv.pad_top + conv.pad_bottom &&
                      conv.dilation_w * (conv.s - 1) < conv.w + conv.pad_left + conv.pad_right;
    if (fits) all.push_back(to_text(Workload{conv, {}}));
  }
  return all;
}

}  // namespace lehr::testing
