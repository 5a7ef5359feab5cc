#include "measure/vendor/onednn/onednn_conv2d.h"

#include <fmt/core.h>

#include <memory>
#include <utility>

#include "base/error.h"
#include "measure/vendor/onednn/onednn_primitives.h"

namespace lehr::onednn {
namespace {

constexpr int kDirect = 1, kWinograd = 2;

/// Dense strides of dims in memory order `order`, slowest first.
Dims strides_of(const Dims& dims, const std::vector<std::size_t>& order) {
  Dims strides{};
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[order[i]];
  }
  return strides;
}

}  // namespace

std::vector<Way> conv2d_ways(void* library, const Conv2d& conv, float* x, float* f, float* y) {
  const auto s = std::make_shared<Primitives>(library);
  std::vector<Way> ways;
  const bool grouped = conv.groups > 1;
  const Dims x_dims = {conv.n, conv.c, conv.h, conv.w}, y_dims = {conv.n, conv.k, conv.out_h(), conv.out_w()};
  const Dims f_dims = grouped ? Dims{conv.groups, conv.k / conv.groups, conv.c / conv.groups, conv.r, conv.s}
                              : Dims{conv.k, conv.c, conv.r, conv.s};
  const int f_rank = grouped ? 5 : 4;
  const std::vector<std::size_t> image = conv.layout == ImageLayout::kNhwc
                                             ? std::vector<std::size_t>{0, 2, 3, 1}
                                             : std::vector<std::size_t>{0, 1, 2, 3};
  std::vector<std::size_t> filter = image;
  if (grouped) {
    for (std::size_t& axis : filter) ++axis;
    filter.insert(filter.begin(), 0);
  }
  MemoryDesc x_md, f_md, y_md, any_x, any_f, any_y;
  const auto plain = [&](MemoryDesc& md, int rank, const Dims& dims, const std::vector<std::size_t>& order) {
    return s->api().md_by_strides(&md, rank, dims, kF32, strides_of(dims, order)) == 0;
  };
  const auto any = [&](MemoryDesc& md, int rank, const Dims& dims) {
    return s->api().md_by_tag(&md, rank, dims, kF32, kTagAny) == 0;
  };
  if (!plain(x_md, 4, x_dims, image) || !plain(f_md, f_rank, f_dims, filter) ||
      !plain(y_md, 4, y_dims, image) || !any(any_x, 4, x_dims) || !any(any_f, f_rank, f_dims) ||
      !any(any_y, 4, y_dims))
    throw_user("oneDNN refuses the tensors of this convolution");
  const Dims strides = {conv.stride_h, conv.stride_w};
  const Dims dilates = {conv.dilation_h - 1,
                        conv.dilation_w - 1};  // oneDNN counts the pixels that are left out
  const Dims before = {conv.pad_top, conv.pad_left}, after = {conv.pad_bottom, conv.pad_right};
  for (const auto& [algorithm, algorithm_name] : {std::pair{kDirect, "direct"}, {kWinograd, "winograd"}}) {
    for (const bool blocked : {false, true}) {
      OperationDesc operation;
      if (s->api().convolution(&operation, kForwardInference, algorithm, blocked ? &any_x : &x_md, &any_f,
                               nullptr, blocked ? &any_y : &y_md, strides, dilates, before, after) != 0)
        continue;
      const Primitives::Primitive made = s->primitive(operation);
      if (made.primitive == nullptr) continue;
      std::vector<Step> once, steps, last;
      void* const filter_memory = s->adapted(f_md, f, made, kWeightsMd, false, once);
      void* const input = s->adapted(x_md, x, made, kSrcMd, false, steps);
      void* const output = s->adapted(y_md, y, made, kDstMd, true, last);
      if (filter_memory == nullptr || input == nullptr || output == nullptr) continue;
      s->run(once);
      steps.push_back({made.primitive, {{kArgSrc, input}, {kArgWeights, filter_memory}, {kArgDst, output}}});
      steps.insert(steps.end(), last.begin(), last.end());
      ways.push_back({fmt::format("{} {}", blocked ? "blocked" : "plain", algorithm_name),
                      [s, all = std::move(steps)] { s->run(all); }});
    }
  }
  if (ways.empty()) throw_user("oneDNN has no convolution for this problem");
  return ways;
}

}  // namespace lehr::onednn
