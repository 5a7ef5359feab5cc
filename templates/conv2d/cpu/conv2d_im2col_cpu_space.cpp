#include "templates/conv2d/cpu/conv2d_im2col_cpu_space.h"

#include <algorithm>

#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/planes_cpu.h"

namespace lehr {
namespace {

using Values = std::vector<std::int64_t>;

/// Maximum number of bytes. More than a work item's share of any last-level cache only costs bandwidth.
constexpr std::int64_t kMaxScratchBytes = 48LL << 20;
/// Minimum number of steps of k in a block. With fewer, loading and storing a tile takes too large a fraction
/// of the time.
constexpr std::int64_t kLeastBlock = 8;

bool is_nchw(const Conv2d& conv) {
  return conv.layout == ImageLayout::kNchw;
}

/// Returns the possible values of "kc". A block of k has all taps of its channels.
Values k_blocks(const Conv2d& conv) {
  static const Values steps = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  const std::int64_t channels = conv.c / conv.groups, taps = conv.r * conv.s;
  Values values;
  for (const std::int64_t count : cpu::up_to(channels, steps))
    if (count * taps >= kLeastBlock || count >= channels) values.push_back(std::min(count, channels) * taps);
  return values;
}

bool needs_copy(const Conv2d& conv) {
  return conv.stride_w > 1 || conv.pad_left > 0 || conv.pad_top > 0 ||
         conv.out_w() - 1 + (conv.s - 1) * conv.dilation_w >= conv.w ||
         (conv.out_h() - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h >= conv.h;
}

/// Returns the product for gemm_cpu's knobs. With forms that multiply groups, a block has all of k: blocks
/// consist of whole channels, which need not be whole groups.
GemmCpuProduct product_of(const Conv2d& conv, const cpu::DotForm& form) {
  GemmCpuProduct product;
  product.p = im2col_problem(conv);
  product.form = &form;
  product.p.k = form.groups(product.p.k);
  product.k_blocks = form.is_plain() ? k_blocks(conv) : Values{product.p.k};
  if (is_nchw(conv)) {
    product.a = Panels::kPrepacked;
    product.b = Panels::kPacked;
    product.shared_out = "what the threads share out: 0 output channels, 1 pixels, 2 images and groups";
  } else {
    product.a = Panels::kPacked;
    product.b = Panels::kPrepacked;
    product.shared_out = "what the threads share out: 0 pixels, 1 output channels, 2 images and groups";
  }
  return product;
}

}  // namespace

ProductView im2col_problem(const Conv2d& conv) {
  const std::int64_t pixels = conv.out_h() * conv.out_w(), filters = conv.k / conv.groups;
  ProductView p;
  p.m = is_nchw(conv) ? filters : pixels;
  p.n = is_nchw(conv) ? pixels : filters;
  p.k = conv.products();
  p.batch = conv.n * conv.groups;
  return p;
}

std::int64_t im2col_run(const Conv2d& conv, std::int64_t copy) {
  const bool gapless = copy == 1 ? cpu::image_planes(conv, 1).width == conv.out_w()
                                 : conv.stride_h == 1 && conv.w == conv.out_w();
  return gapless ? conv.out_h() * conv.out_w() : conv.out_w();
}

std::int64_t im2col_lines(const Conv2d& conv, std::int64_t pixels) {
  return std::min(conv.out_h(), (pixels + conv.out_w() - 2) / conv.out_w() + 1);
}

void im2col_knobs(Knobs<GemmCpuSchedule>& k, const Workload& workload, const Limits& limits) {
  using S = GemmCpuSchedule;
  const Conv2d conv = cpu::conv_view(workload).conv;
  const GemmCpuProduct product = product_of(conv, *cpu::dot_form(workload, limits));
  gemm_cpu_product_knobs(k, product, limits);
  k.knob(&S::copy, "copy", "lines of the image: 0 read where they are, 1 copied, padded",
         !is_nchw(conv)     ? Values{0}
         : needs_copy(conv) ? Values{1}
                            : Values{0, 1});
  if (!is_nchw(conv)) return;
  const std::int64_t pixels = product.p.n, channels = conv.c / conv.groups;
  k.forbid("its copies of the image are too large", [=](const S& s) {
    const std::int64_t block = std::min(pixels, s.nc * s.nv * s.lanes);
    const std::int64_t lines =
        s.copy * channels * cpu::image_planes(conv, im2col_lines(conv, block)).channel();
    return s.nc > 1 && 4 * (lines + s.kc * block) > kMaxScratchBytes;
  });
}

// Chooses blocks such that the packed pixels stay in half of L2. With nhwc, deep blocks of few rows, which
// share the prefetch of the next panel of filters, are faster than shallow ones by 5 to 20 % (56 x 56 x 64,
// 28 x 28 x 128, 7 x 7 x 512). With nchw the depth makes no difference. If there are enough pixels, threads
// divide the pixels, so that each thread packs its own.
GemmCpuSchedule im2col_wanted(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t most_steps = is_nchw(conv) ? 256 : 640;
  const ProductView p = im2col_problem(conv);
  GemmCpuSchedule s;
  s.threads = cpu::default_threads(workload, limits);
  s.lanes = cpu::lane_counts(limits).back();
  if (p.n <= s.lanes / 2) s.lanes = cpu::lane_counts(limits).front();
  const cpu::DotForm& form = *cpu::dot_form(workload, limits);
  const cpu::Tiling tiling = cpu::fastest_tiling(p.m, p.n, s.lanes, 0, limits, form);
  s.mr = tiling.rows;
  s.nv = tiling.vectors;
  for (const std::int64_t block : k_blocks(conv))
    if (s.kc == 1 || block <= most_steps) s.kc = block;
  if (!form.is_plain()) s.kc = form.groups(p.k);
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  const std::int64_t row_tiles = ceil_div(p.m, s.mr), column_tiles = ceil_div(p.n, s.nv * s.lanes);
  const auto fitting = [&](std::int64_t tile) {
    std::int64_t tiles = 1;
    while (8 * tiles * tile * s.kc <= half_l2) tiles *= 2;
    return tiles;
  };
  const std::int64_t pixel_tiles = is_nchw(conv) ? column_tiles : row_tiles;
  const std::int64_t of_pixels = is_nchw(conv) ? 1 : 0;
  s.split = p.batch >= 2 * limits.cores ? 2 : pixel_tiles >= 2 * limits.cores ? of_pixels : 1 - of_pixels;
  s.mc = is_nchw(conv) ? 8 : std::min<std::int64_t>(4, fitting(s.mr));
  s.nc = is_nchw(conv) ? fitting(s.nv * s.lanes) : column_tiles;
  s.prefetch = is_nchw(conv) ? 8 : GemmCpuSchedule::kNextTileShared;
  s.copy = 1;
  return s;
}

}  // namespace lehr
