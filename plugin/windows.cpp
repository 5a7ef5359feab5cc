#include "plugin/windows.h"

#include <algorithm>

namespace lehr::onnxruntime {
namespace {

// Limit of dimensions. No model that fits into memory has a larger one, and sums and products of two
// dimensions do not overflow.
constexpr std::int64_t kMostDimension = std::int64_t{1} << 31;

// Reads value number `i` of a list. The list must have `count` values, or be empty.
bool element(const Array<std::int64_t>& list, std::size_t count, std::size_t i, std::int64_t& value,
             Sentence& error) {
  if (list.size() == 0) return true;
  if (list.size() != count) return refuse(error, "an attribute is for another number of dimensions");
  value = list[i];
  return (value >= 0 && value < kMostDimension) ||
         refuse(error, "an attribute has a number that is negative or too large");
}

// Counts the positions of a window. Refuses a last, incomplete window that begins after the image, since
// versions of the engine differ in whether it counts.
bool count_places(std::int64_t size, bool rounds_up, const Window& window, std::int64_t& count,
                  Sentence& error) {
  const std::int64_t free = size + window.before + window.after - window.reach();
  if (free < 0) return refuse(error, "its window is larger than its image");
  count = free / window.stride + 1;
  if (!rounds_up || free % window.stride == 0) return true;
  if (count++ * window.stride < size + window.before) return true;
  return refuse(error, "with ceil_mode a window would begin behind its image");
}

}  // namespace

bool read_pool(const OrtApi* api, const OrtKernelInfo* info, PoolAttributes& pool, Sentence& error) {
  Sentence absent;
  const auto list = [&](const char* name, Array<std::int64_t>& values) {
    std::size_t count = 0;
    return !succeeded(api, ort::KernelInfoGetAttributeArray_int64(api, info, name, nullptr, &count),
                      absent) ||
           ints_attribute(api, info, name, values, error);
  };
  const auto number = [&](const char* name, std::int64_t& value) {
    succeeded(api, ort::KernelInfoGetAttribute_int64(api, info, name, &value), absent);
  };
  number("ceil_mode", pool.ceil_mode);
  number("count_include_pad", pool.count_include_pad);
  text_attribute(api, info, "auto_pad", pool.auto_pad, absent);
  return list("kernel_shape", pool.kernel) && list("strides", pool.strides) && list("pads", pool.pads) &&
         list("dilations", pool.dilations);
}

bool place_window(const PoolAttributes& pool, std::size_t spatial, std::size_t i, std::int64_t size,
                  Window& window, std::int64_t& count, Sentence& error) {
  window = {.kernel = 0};
  if (!element(pool.kernel, spatial, i, window.kernel, error) ||
      !element(pool.strides, spatial, i, window.stride, error) ||
      !element(pool.dilations, spatial, i, window.dilation, error) ||
      !element(pool.pads, 2 * spatial, i, window.before, error) ||
      !element(pool.pads, 2 * spatial, spatial + i, window.after, error))
    return false;
  if (window.kernel < 1 || window.stride < 1 || window.dilation < 1)
    return refuse(error, "it has a window of no size");
  const std::string_view pad = pool.auto_pad.size() > 0 ? pool.auto_pad.data() : "NOTSET";
  if (pad == "SAME_UPPER" || pad == "SAME_LOWER") {
    count = (size + window.stride - 1) / window.stride;
    const std::int64_t all = std::max<std::int64_t>(0, (count - 1) * window.stride + window.reach() - size);
    window.before = pad == "SAME_LOWER" ? all - all / 2 : all / 2;
    window.after = all - window.before;
    return true;
  }
  if (pad == "VALID") window.before = window.after = 0;
  if (pad != "NOTSET" && pad != "VALID" && !pad.empty()) return refuse(error, "it has an unknown auto_pad");
  return count_places(size, pool.ceil_mode != 0, window, count, error);
}

}  // namespace lehr::onnxruntime
