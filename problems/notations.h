// Other tools' notations: from the words of a line to the workload that they mean. All throw Error(kUser),
// one sentence, for what is none and what no workload says.
#pragma once

#include <span>
#include <string_view>

#include "problems/keys.h"
#include "workload/workload.h"

namespace lehr {

using Words = std::span<const std::string_view>;

/// Whether they begin as MIOpenDriver's arguments do: conv, convfp16, convbfp16, or gemm and a flag.
bool is_miopen(Words words);
/// What is left out is the driver's default; flags of how it is run are passed over. Matrices lie by rows
/// unless -C 1 says otherwise.
Workload miopen_workload(Words words);

GivenValues cutlass_arguments(Words words);
/// Of a command line, or of a report, whose columns have the flags' names. How it is run is passed over
/// (tiles, stages, providers, iterations). What is not said is the profiler's default: products of 1024,
/// images of 16 x 16 x 64 under 64 filters of 3 x 3 with padding 1 and channels innermost, f32, matrices by
/// columns.
Workload cutlass_workload(const GivenValues& arguments);

/// Whether a driver's flag is among them, such as --conv, or they end in a descriptor such as
/// ic64ih56oc64kh3ph1 or 16x64:64x32.
bool is_benchdnn(Words words);
/// How it is run is passed over (mode, algorithm, runtime dimensions). A bias is added where --dir=FWD_B or
/// --bia_dt says so. What a descriptor leaves out is as benchdnn deduces it: two images, square images,
/// filters, strides and padding, a stride of 1, and of output and padding the one from the other.
Workload benchdnn_workload(Words words);

}  // namespace lehr
