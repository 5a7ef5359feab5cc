// Other tools' notations: turns the words of a line into a workload. All functions throw Error(kUser) with
// one sentence for words that are not valid, or that no workload expresses.
#pragma once

#include <span>
#include <string_view>

#include "problems/keys.h"
#include "workload/workload.h"

namespace lehr {

using Words = std::span<const std::string_view>;

/// Whether they begin as MIOpenDriver's arguments do: conv, convfp16, convbfp16, or gemm and a flag.
bool is_miopen(Words words);
/// Reads MIOpenDriver's arguments. Missing values are the driver's defaults; flags for how it is run are
/// ignored. Matrices are stored by rows unless -C 1 is given.
Workload miopen_workload(Words words);

GivenValues cutlass_arguments(Words words);
/// Reads a command line, or a report, whose columns have the flags' names. Flags for how it is run are
/// ignored (tiles, stages, providers, iterations). Missing values are the profiler's defaults: products of
/// 1024, images of 16 x 16 x 64 under 64 filters of 3 x 3 with padding 1 and channels innermost, f32,
/// matrices by columns.
Workload cutlass_workload(const GivenValues& arguments);

/// Whether a driver's flag is among them, such as --conv, or they end in a descriptor such as
/// ic64ih56oc64kh3ph1 or 16x64:64x32.
bool is_benchdnn(Words words);
/// Reads benchdnn's arguments. Flags for how it is run are ignored (mode, algorithm, runtime dimensions). A
/// bias is added if --dir=FWD_B or --bia_dt requires it. Sizes that a descriptor leaves out are deduced as
/// benchdnn does: two images; square images, filters, strides and padding; a stride of 1; output and padding
/// from each other.
Workload benchdnn_workload(Words words);

}  // namespace lehr
