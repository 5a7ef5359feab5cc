// benchdnn's lines, oneDNN's benchmark: --conv and --matmul, and the lines of its files of shapes.
#pragma once

#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// Whether these words are of benchdnn: they begin with --conv, --matmul or another driver's flag, or end in
/// a descriptor such as ic64ih56oc64kh3ph1 or 16x64:64x32.
bool is_benchdnn(const std::vector<std::string_view>& words);

/// What is computed; how is passed over (mode, algorithm, runtime dimensions). A bias is added where
/// --dir=FWD_B or --bia_dt says so. What a descriptor leaves out is as benchdnn deduces it: two images, square
/// images, filters, strides and padding, a stride of 1, and of output and padding the one from the other.
/// Throws Error(kUser), one sentence, for gradients, volumes, transposed convolutions, attributes and
/// whatever no workload says.
Workload benchdnn_workload(const std::vector<std::string_view>& words);

}  // namespace lehr
