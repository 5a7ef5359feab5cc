// The windows of a pool over its images.
#pragma once

#include "plugin/engine.h"

namespace lehr::onnxruntime {

/// A window along one dimension.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
};

/// Attributes of ONNX's pools (version 22). A list that the node omits is empty.
struct PoolAttributes {
  Array<std::int64_t> kernel, strides, pads, dilations;
  std::int64_t ceil_mode = 0, count_include_pad = 0;
  Array<char> auto_pad;  ///< empty: NOTSET
};
/// Reads the attributes. If there is no memory, returns false and writes a sentence to `error`.
bool read_pool(const OrtApi* api, const OrtKernelInfo* info, PoolAttributes& pool, Sentence& error);

/// Computes the window along spatial dimension number `i`, with the padding that auto_pad demands, and the
/// number of its positions, `count`. `spatial` is the number of spatial dimensions, and `size` is the image's
/// size in dimension `i`. On failure, returns false and writes a sentence to `error`.
bool place_window(const PoolAttributes& pool, std::size_t spatial, std::size_t i, std::int64_t size,
                  Window& window, std::int64_t& count, Sentence& error);

}  // namespace lehr::onnxruntime
