// The workloads that the CUDA families are compiled for.
#pragma once

#include <string>
#include <vector>

namespace lehr::sass {

/// Returns each operator, type, layout and epilogue, in sizes that people have.
const std::vector<std::string>& usual_workloads();
/// Returns long and short sums: k within one step, one tile, one row, where loops become straight code, and
/// so long that they stay loops.
const std::vector<std::string>& odd_workloads();

}  // namespace lehr::sass
