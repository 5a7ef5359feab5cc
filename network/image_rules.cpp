// Operators over images: the height and width of their outputs.
#include <cmath>

#include "network/shape_lists.h"

namespace lehr::rules {
namespace {

Dim window_output(Dim size, const ImageWindow& window, int axis) {
  if (!size) return std::nullopt;
  const std::int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
  const std::int64_t padded = *size + window.before[axis] + window.after[axis];
  const std::int64_t free = padded - reach;
  if (free < 0) return std::nullopt;
  std::int64_t count = free / window.stride[axis] + 1;
  // The count is rounded up, unless the last window would begin in the padding after the image.
  if (window.ceil && free % window.stride[axis] != 0 &&
      count * window.stride[axis] < *size + window.before[axis])
    ++count;
  return count;
}

void over_image(ShapeSite& site, const Dim& channels, const Shape& kernel) {
  const Shape& image = *site.in(0).shape;
  const auto window = window_of(site.node, {image.begin() + 2, image.end()}, kernel);
  Shape result = {image[0], channels};
  for (std::size_t i = 2; i < image.size(); ++i)
    result.push_back(window ? window_output(image[i], *window, static_cast<int>(i + 2 - image.size()))
                            : std::nullopt);
  site.outputs[0].shape = result;
}

}  // namespace

void conv(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &image = site.in(0).shape, &filter = site.in(1).shape;
  if (!image || !filter || image->size() < 3 || filter->size() != image->size()) return;
  over_image(site, (*filter)[0], {filter->begin() + 2, filter->end()});
}

void pool(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  if (site.in(0).shape && site.in(0).shape->size() >= 3) over_image(site, (*site.in(0).shape)[1], {});
  if (site.outputs.size() > 1) site.outputs[1] = {OnnxType::kS64, site.outputs[0].shape, {}, nullptr, false};
}

void global_pool(ShapeSite& site) {
  same(site);
  if (auto& shape = site.outputs[0].shape)
    for (std::size_t i = 2; i < shape->size(); ++i) (*shape)[i] = 1;
}

void conv_transpose(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &image = site.in(0).shape, &filter = site.in(1).shape;
  if (!image || !filter || image->size() != 4 || filter->size() != 4) return;
  Shape result = {(*image)[0], std::nullopt, std::nullopt, std::nullopt};
  if ((*filter)[1]) result[1] = checked_product(*(*filter)[1], site.node.whole("group", 1));
  const auto stated = site.node.wholes("output_shape"), more = site.node.wholes("output_padding");
  const auto window = window_of(site.node, {{}, {}}, {filter->begin() + 2, filter->end()});
  for (std::size_t i = 0; i < 2; ++i) {
    if (stated.size() >= 2) {
      result[2 + i] = stated[stated.size() - 2 + i];
    } else if (window && (*image)[2 + i] && site.node.text("auto_pad", "NOTSET") == "NOTSET") {
      result[2 + i] = window->stride[i] * (*(*image)[2 + i] - 1) + (more.size() > i ? more[i] : 0) +
                      window->dilation[i] * (window->kernel[i] - 1) + 1 - window->before[i] -
                      window->after[i];
    }
  }
  site.outputs[0].shape = result;
}

void resize(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  const bool upsample = site.node.op == "Upsample" || site.opset < 11;
  const std::size_t scales_at = upsample ? 1 : 2;
  site.outputs[0].shape = Shape(shape->size());
  if (!upsample && site.has(3)) {
    if (site.in(3).wholes && site.in(3).wholes->size() == shape->size())
      site.outputs[0].shape = site.in(3).wholes;
    return;
  }
  std::vector<float> scales;
  if (const OnnxAttribute* const old = site.node.attribute("scales")) scales = old->numbers;
  if (const OnnxTensor* const tensor = site.in(scales_at).constant)
    if (const auto found = floats_of(*tensor, kMostDims)) scales = *found;
  if (scales.size() != shape->size()) return;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const double size = (*shape)[i] ? std::floor(static_cast<double>(*(*shape)[i]) * scales[i]) : -1;
    if (size >= 0 && size < 1e15) (*site.outputs[0].shape)[i] = static_cast<std::int64_t>(size);
  }
}

void blocks(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  const std::int64_t size = site.node.whole("blocksize", 0);
  if (!shape || shape->size() != 4 || size < 1 || size > 4096) return;
  Shape result = *shape;
  const bool apart = site.node.op == "DepthToSpace";
  if (result[1]) result[1] = apart ? *result[1] / (size * size) : *result[1] * size * size;
  for (const std::size_t i : {2u, 3u})
    if (result[i]) result[i] = apart ? *result[i] * size : *result[i] / size;
  site.outputs[0].shape = result;
}

}  // namespace lehr::rules
