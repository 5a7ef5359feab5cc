// The epilogue steps after integer sums, and the zero point before the sums, as oneDNN 3 computes them within
// a primitive.
#pragma once

#include <functional>
#include <span>

#include "measure/core/problem.h"
#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Throws Error(kUser) with one sentence if oneDNN is not called for the workload's epilogue. It is called
/// for s32 sums with a bias. It is also called for a dequant with a bias before or directly after it,
/// followed by ReLUs, clamps and residuals in floating point, and a quant.
void require_epilogue(const Workload& workload);

/// Whether a primitive for this workload computes more than the sums.
bool has_extras(const Workload& workload);

/// How a primitive sees the channels.
struct ChannelView {
  Dims bias;       ///< sizes of the bias
  int scales = 0;  ///< bit mask of the dimensions of the weights that are channels
};

/// Returns the extras of a primitive. `pointers` are the addresses of tensors_of(workload), which must have
/// their values: scales and zero points are read now, since the library wants some of them converted.
/// `output` returns the description of a tensor with the output's shape and a given type.
Extras extras_of(Primitives& primitives, const Workload& workload, std::span<void* const> pointers,
                 const ChannelView& channels, const std::function<MemoryDesc(DType)>& output);

/// Returns the problem with the tolerance that oneDNN needs, because it rounds at other steps than the
/// workload: it scales an s32 bias separately and adds it without rounding the product, it multiplies by the
/// inverse of a quant's scale, and it adds the zero point before it rounds. An output in u8 or s8 may then be
/// off by one.
Problem judged_for_onednn(Problem problem);

}  // namespace lehr::onednn
