// cutlass_profiler's command lines, the arguments that it prints, and its reports.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// Names and values: "m" and "3456", as the profiler's flags and the columns of its reports have them.
using CutlassArguments = std::vector<std::pair<std::string, std::string>>;

/// Of "--m=3456 --n=4096 --A=f16:row ...". Throws Error(kUser) for a word that is none.
CutlassArguments cutlass_arguments(const std::vector<std::string_view>& words);

/// What is computed; how is passed over (tiles, stages, providers, iterations). What is not said is the
/// profiler's default: products of 1024, images of 16 x 16 x 64 under 64 filters of 3 x 3 with padding 1 and
/// channels innermost, f32, and matrices by columns. Throws Error(kUser), one sentence, for ranges and sets
/// of sizes, gradients, volumes, a beta other than 0 and whatever no workload says.
Workload cutlass_workload(const CutlassArguments& arguments);

}  // namespace lehr
