// Compares the tensor memory accelerator's loads of images' pixels (PTX ISA 9.0, "Tensors: im2col mode") with
// the rows of a convolution's im2col matrix, which are computed directly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/prelude.h"
#include "tests/emulator/box.h"
#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"
#include "workload/workload.h"

namespace lehr::emulator {
namespace {

using lehr::testing::kernel_text;
using ::testing::HasSubstr;

constexpr auto kIn = ir::Direction::kIn;
constexpr auto kOut = ir::Direction::kOut;
constexpr std::int64_t kPixels = 16;    // pixels of a load
constexpr std::int64_t kChannels = 32;  // channels of a load

Conv2d convolution(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  Conv2d conv;
  conv.n = n;
  conv.h = h;
  conv.w = w;
  conv.c = c;
  conv.k = 1;
  return conv;
}

/// Returns convolutions with paddings that differ by side, strides, dilation and several images. A tile of
/// the last one contains several images.
std::vector<Conv2d> convolutions() {
  std::vector<Conv2d> all = {convolution(1, 6, 7, 40), convolution(3, 5, 6, 32), convolution(2, 9, 8, 72),
                             convolution(5, 3, 2, 8)};
  all[0].r = 3;
  all[0].s = 3;
  all[0].pad_top = 1;
  all[0].pad_left = 1;
  all[0].pad_bottom = 1;
  all[0].pad_right = 1;
  all[1].r = 2;
  all[1].s = 3;
  all[1].pad_top = 2;
  all[1].pad_left = 0;
  all[1].pad_bottom = 1;
  all[1].pad_right = 3;
  all[1].stride_w = 2;
  all[2].r = 3;
  all[2].s = 2;
  all[2].pad_left = 4;
  all[2].stride_h = 3;
  all[2].dilation_h = 2;
  all[2].dilation_w = 3;
  all[3].r = 1;
  all[3].s = 2;
  all[3].stride_h = 2;
  return all;
}

SourceParam image_of(const Conv2d& conv) {
  SourceParam x = {"x", DType::kBF16, conv.n * conv.h * conv.w * conv.c, kIn};
  ir::TensorMap map;
  map.rank = 4;
  map.dims = {conv.c, conv.w, conv.h, conv.n};
  map.strides = {1, conv.c, conv.w * conv.c, conv.h * conv.w * conv.c};
  map.box = {kChannels, 0, 0, 0};
  map.im2col = ir::Im2col{
      kPixels,
      {-conv.pad_left, -conv.pad_top},
      {conv.pad_right - (conv.s - 1) * conv.dilation_w, conv.pad_bottom - (conv.r - 1) * conv.dilation_h},
      {conv.stride_w, conv.stride_h}};
  x.map = map;
  return x;
}

/// Returns a kernel with one load. It loads the channels from `c` on of the pixels that the outputs from
/// `first` on read with tap (r, s).
Source load_of(const Conv2d& conv, std::int64_t first, std::int64_t r, std::int64_t s, std::int64_t c) {
  const std::int64_t width = conv.out_w(), of_image = conv.out_h() * width;
  const std::int64_t row = first % of_image / width, column = first % width;
  const std::string body =
      fmt::format(R"(
  unsigned short* tile = reinterpret_cast<unsigned short*>(lehr_shared);
  unsigned* full = reinterpret_cast<unsigned*>(lehr_shared + 1024);
  if (t == 0) {{
    lehr_mbarrier_init(full, 1);
    lehr_mbarrier_init_fence();
    lehr_mbarrier_expect_tx(full, 1024);
    lehr_tma_im2col_4d(tile, &x, full, {}, {}, {}, {}, {}, {});
    lehr_mbarrier_wait(full, 0);
  }}
  __syncthreads();
  for (int i = t; i < 512; i += 32) y[i] = tile[i];)",
                  c, column * conv.stride_w - conv.pad_left, row * conv.stride_h - conv.pad_top,
                  first / of_image, s * conv.dilation_w, r * conv.dilation_h);
  return kernel_text({image_of(conv), {"y", DType::kBF16, kPixels * kChannels, kOut}}, 32, 1040, body,
                     prelude(Target::kCuda, {"tensor_map"}));
}

/// Returns an element of the im2col matrix. It is zero outside of the image, and after the last channel or
/// output.
float expected_of(const Conv2d& conv, const std::vector<float>& x, std::int64_t output, std::int64_t r,
                  std::int64_t s, std::int64_t c) {
  const std::int64_t width = conv.out_w(), of_image = conv.out_h() * width;
  const std::int64_t n = output / of_image;
  const std::int64_t h = output % of_image / width * conv.stride_h + r * conv.dilation_h - conv.pad_top;
  const std::int64_t w = output % width * conv.stride_w + s * conv.dilation_w - conv.pad_left;
  if (n >= conv.n || h < 0 || h >= conv.h || w < 0 || w >= conv.w || c >= conv.c) return 0;
  return x[static_cast<std::size_t>(((n * conv.h + h) * conv.w + w) * conv.c + c)];
}

TEST(Im2colLoad, ReadsTheRowsOfEveryTapOfAConvolution) {
  struct Case {
    Conv2d conv;
    std::int64_t first, r, s, c;
  };
  std::vector<Case> cases;
  std::vector<Source> sources;
  for (const Conv2d& conv : convolutions()) {
    const std::int64_t outputs = conv.n * conv.out_h() * conv.out_w();
    // Loads begin at the first output, in the middle of a line, shortly before the last output, and after it.
    const std::vector<std::int64_t> firsts = {0, outputs / 3 + 1, outputs - 2, outputs};
    for (std::int64_t r = 0; r < conv.r; ++r)
      for (std::int64_t s = 0; s < conv.s; ++s)
        cases.push_back({conv, firsts[cases.size() % 4], r, s, cases.size() % 3 == 0 ? kChannels : 0});
  }
  for (const Case& each : cases) sources.push_back(load_of(each.conv, each.first, each.r, each.s, each.c));
  const Program program(sources);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& at = cases[i];
    std::vector<float> x(static_cast<std::size_t>(at.conv.n * at.conv.h * at.conv.w * at.conv.c));
    for (std::size_t e = 0; e < x.size(); ++e) x[e] = static_cast<float>(e * 7 % 251 + 1);
    const Result result = program.run(i, {x});
    ASSERT_FALSE(result.fault) << *result.fault;
    std::int64_t read = 0;
    for (std::int64_t pixel = 0; pixel < kPixels; ++pixel) {
      for (std::int64_t channel = 0; channel < kChannels; ++channel) {
        const float expected = expected_of(at.conv, x, at.first + pixel, at.r, at.s, at.c + channel);
        read += expected != 0 ? 2 : 0;
        ASSERT_EQ(result.outputs[0][static_cast<std::size_t>(pixel * kChannels + channel)], expected)
            << to_text(Workload{at.conv, {}}) << " tap " << at.r << ", " << at.s << ": output "
            << at.first + pixel << ", channel " << at.c + channel;
      }
    }
    EXPECT_EQ(result.traffic[0].read_bytes, read);
  }
}

TEST(Im2colLoad, RefusesPlacesAndMapsThatTheInstructionDoesNotTake) {
  const Conv2d conv = convolutions()[0];  // its bounding box is from -1 to 5 along w, from -1 to 4 along h
  const ir::TensorMap map = *image_of(conv).map;
  const auto wrong = [&](const ir::TensorMap& m, const BoxPlace& place) {
    return why_no_box(m, place).value_or("");
  };
  const std::array<int, 2> tap = {2, 2};
  EXPECT_EQ(wrong(map, {{0, 5, 4, 0}, tap}), "");
  EXPECT_EQ(wrong(map, {{0, -1, -1, 7}, tap}), "");
  EXPECT_THAT(wrong(map, {{0, 6, 0, 0}, tap}), HasSubstr("from 6, outside of the bounding box from -1 to 5"));
  EXPECT_THAT(wrong(map, {{0, 0, -2, 0}, tap}), HasSubstr("from -2, outside"));
  EXPECT_THAT(wrong(map, {{0, 0, 0, 0}, std::array<int, 2>{256, 0}}), HasSubstr("at an offset of 256"));
  EXPECT_THAT(wrong(map, {{0, 0, 0, 0}, std::nullopt}), HasSubstr("with an im2col tensor map"));
  ir::TensorMap tiled = map;
  tiled.im2col.reset();
  EXPECT_THAT(wrong(tiled, {{0, 0, 0, 0}, tap}), HasSubstr("with a tiled tensor map"));
}

}  // namespace
}  // namespace lehr::emulator
