// The windows of a pool over its images.
#pragma once

#include "plugin/engine.h"

namespace lehr::onnxruntime {

/// A window along one dimension.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
};

/// Attributes of ONNX's pools (version 22); lists that a node leaves out are empty.
struct PoolAttributes {
  Array<std::int64_t> kernel, strides, pads, dilations;
  std::int64_t ceil_mode = 0, count_include_pad = 0;
  Array<char> auto_pad;  ///< empty: NOTSET
};
/// Reads the attributes. Returns false with a sentence if there is no memory.
bool read_pool(const OrtApi* api, const OrtKernelInfo* info, PoolAttributes& pool, Sentence& error);

/// Places the window along dimension `i` of `spatial`, in which an image has `size`, with the padding of
/// auto_pad, and counts its positions. Returns false with a sentence on failure.
bool place_window(const PoolAttributes& pool, std::size_t spatial, std::size_t i, std::int64_t size,
                  Window& window, std::int64_t& count, Sentence& error);

}  // namespace lehr::onnxruntime
