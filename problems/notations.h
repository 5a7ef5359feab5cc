// Turns the words of a line in another tool's notation into a workload. All functions throw Error(kUser) with
// one sentence for words that are not valid, or that no workload expresses.
#pragma once

#include <span>
#include <string_view>

#include "problems/keys.h"
#include "workload/workload.h"

namespace lehr {

using Words = std::span<const std::string_view>;

/// Whether the words begin like MIOpenDriver's arguments: with conv, convfp16, convbfp16, or with gemm and a
/// flag.
bool is_miopen(Words words);
/// Reads MIOpenDriver's arguments. Missing values are the driver's defaults. Flags that only affect how the
/// problem is run are ignored. Matrices are stored by rows unless -C 1 is given.
Workload miopen_workload(Words words);

GivenValues cutlass_arguments(Words words);
/// Returns the workload of cutlass_profiler's arguments, which come from a command line or from a row of a
/// report. Flags that only affect how the problem is run are ignored (tiles, stages, providers, iterations).
/// Missing values are the profiler's defaults: products of size 1024; images of 16 x 16 x 64, 64 filters of 3
/// x 3, padding 1 and channels innermost; f32; matrices stored by columns.
Workload cutlass_workload(const GivenValues& arguments);

/// Whether the words include a driver's flag, such as --conv, or end with a descriptor such as
/// ic64ih56oc64kh3ph1 or 16x64:64x32.
bool is_benchdnn(Words words);
/// Reads benchdnn's arguments. Flags that only affect how the problem is run are ignored (mode, algorithm,
/// runtime dimensions). A bias is added if --dir=FWD_B or --bia_dt requires it. Sizes that a descriptor omits
/// are deduced as in benchdnn: there are two images; images, filters, strides and padding are square; the
/// stride is 1; the output's size follows from the padding, or the padding from the output's size.
Workload benchdnn_workload(Words words);

}  // namespace lehr
