// What follows the sums of integers, and the zero point before them, as oneDNN 3 does it within a primitive.
#pragma once

#include <functional>
#include <span>

#include "measure/core/problem.h"
#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Throws Error(kUser), one sentence, where oneDNN is not asked for the workload's epilogue. It is for sums
/// in s32: a bias; or a dequant, with a bias before or right behind it, and behind that ReLUs, clamps and
/// residuals of floating-point numbers, and a quant.
void require_epilogue(const Workload& workload);

/// Whether a primitive of this workload does more than its sums.
bool has_extras(const Workload& workload);

/// How a primitive sees the channels.
struct ChannelView {
  Dims bias;       ///< the sizes of its bias
  int scales = 0;  ///< the bits of the dimensions of its weights that channels go along
};

/// `pointers`: tensors_of(workload), with their values; scales and zero points are read now, since the
/// library wants some of them in another form. `output`: a tensor of the output's shape, of that type.
Extras extras_of(Primitives& primitives, const Workload& workload, std::span<void* const> pointers,
                 const ChannelView& channels, const std::function<MemoryDesc(DType)>& output);

/// With the tolerance that oneDNN needs where it rounds elsewhere than the workload says: it scales a bias in
/// s32 by itself and adds it without rounding the product, it divides by the inverse of a quant's scale, and
/// adds the zero point before it rounds. An output of u8 or s8 may be off by one then.
Problem judged_for_onednn(Problem problem);

}  // namespace lehr::onednn
