// The steps after sums of integers, and the zero point before them, as oneDNN 3 computes them within a
// primitive.
#pragma once

#include <functional>
#include <span>

#include "measure/core/problem.h"
#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Throws Error(kUser) with one sentence if oneDNN is not called for the workload's epilogue. It is called
/// for sums in s32 with a bias; or with a dequant, with a bias before or directly after it, and then ReLUs,
/// clamps and residuals of floating-point numbers, and a quant.
void require_epilogue(const Workload& workload);

/// Whether a primitive of this workload does more than its sums.
bool has_extras(const Workload& workload);

/// How a primitive sees the channels.
struct ChannelView {
  Dims bias;       ///< the sizes of its bias
  int scales = 0;  ///< bits of the dimensions of its weights that have the channels
};

/// Returns the extras. `pointers` are those of tensors_of(workload), with their values: scales and zero
/// points are read now, since the library wants some of them in another form. `output` returns a tensor of
/// the output's shape with a type.
Extras extras_of(Primitives& primitives, const Workload& workload, std::span<void* const> pointers,
                 const ChannelView& channels, const std::function<MemoryDesc(DType)>& output);

/// Returns the problem with the tolerance that oneDNN needs because it rounds at other steps than the
/// workload: it scales a bias in s32 separately and adds it without rounding the product, it divides by the
/// inverse of a quant's scale, and adds the zero point before it rounds. An output of u8 or s8 may then be
/// off by one.
Problem judged_for_onednn(Problem problem);

}  // namespace lehr::onednn
