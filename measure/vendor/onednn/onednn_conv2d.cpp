#include "measure/vendor/onednn/onednn_conv2d.h"

#include <fmt/core.h>

#include <utility>

#include "measure/vendor/onednn/onednn_epilogue.h"

namespace lehr::onednn {
namespace {

/// Returns the dense strides of `dims` in memory order `order`, the slowest dimension first.
Dims strides_of(const Dims& dims, const std::vector<std::size_t>& order) {
  Dims strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[order[i]];
  }
  return strides;
}

/// Descriptions of the tensors: as they lie in memory, and with a layout that the primitive chooses.
struct Tensors {
  MemoryDesc x, f, y, any_x, any_f, any_y;
};

Tensors describe(Primitives& primitives, const Conv2d& conv) {
  const Dims x = {conv.n, conv.c, conv.h, conv.w}, y = {conv.n, conv.k, conv.out_h(), conv.out_w()};
  Dims f = {conv.k, conv.c, conv.r, conv.s};
  std::vector<std::size_t> image = {0, 1, 2, 3};
  if (conv.layout == ImageLayout::kNhwc) image = {0, 2, 3, 1};
  std::vector<std::size_t> filter = image;
  if (conv.groups > 1) {
    f = {conv.groups, conv.k / conv.groups, conv.c / conv.groups, conv.r, conv.s};
    for (std::size_t& axis : filter) ++axis;
    filter.insert(filter.begin(), 0);
  }
  return {primitives.strided(conv.input, x, strides_of(x, image)),
          primitives.strided(conv.filter, f, strides_of(f, filter)),
          primitives.strided(conv.output, y, strides_of(y, image)),
          primitives.any(conv.input, x),
          primitives.any(conv.filter, f),
          primitives.any(conv.output, y)};
}

}  // namespace

std::vector<Algorithm> conv2d_algorithms(const std::shared_ptr<Primitives>& primitives,
                                         const Workload& workload, std::span<void* const> pointers) {
  const Conv2d& conv = workload.conv2d();
  const Tensors t = describe(*primitives, conv);
  const auto output = [&](DType type) {
    Conv2d other = conv;
    other.output = type;
    return describe(*primitives, other).y;
  };
  const ChannelView channels = {{conv.k}, conv.groups > 1 ? 3 : 1};
  const Extras extras = extras_of(*primitives, workload, pointers, channels, output);
  const std::optional<const void*> attributes = primitives->attributes(extras);
  if (!attributes) return {};
  const Windows windows = {{conv.stride_h, conv.stride_w},
                           {conv.dilation_h - 1, conv.dilation_w - 1},
                           {conv.pad_top, conv.pad_left},
                           {conv.pad_bottom, conv.pad_right}};
  std::vector<Algorithm> algorithms;
  for (const auto& [algorithm, algorithm_name] : {std::pair{kDirect, "direct"}, {kWinograd, "winograd"}})
    for (const bool blocked : {false, true}) {
      const Operands operands = {blocked ? t.any_x : t.x, t.any_f, blocked ? t.any_y : t.y, extras.bias.desc};
      add_algorithm(algorithms, primitives,
                    fmt::format("{} {}", blocked ? "blocked" : "plain", algorithm_name),
                    primitives->convolution(operands, algorithm, windows, *attributes), {t.x, pointers[0]},
                    {t.f, pointers[1]}, {t.y, pointers[2]}, extras);
    }
  return algorithms;
}

}  // namespace lehr::onednn
