// A row expression in double precision, and the largest error of right values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/reference_line.h"
#include "workload/rowwise/rowwise.h"

namespace lehr {

/// Members of an operator's table (operator.h). The lines have bounds of their own: the maximum error of
/// arithmetic in f32 with any order of summation, propagated from node to node. A bound is infinite where two
/// correct kernels may differ widely (on the two sides of a comparison).
OutputLines reference_lines(const Rowwise& rowwise, const Epilogue& epilogue);
void reference_line(const Rowwise& rowwise, const Epilogue& epilogue,
                    std::span<const std::vector<float>> inputs, std::int64_t matrix, std::int64_t row,
                    std::span<OutputLine> lines);
float reference_element(const Rowwise& rowwise, const Epilogue& epilogue, std::span<const MadeInput> inputs,
                        std::size_t output, std::int64_t index);
/// Returns 0, because no bound holds for all elements.
double reference_tolerance(const Rowwise& rowwise, const Epilogue& epilogue, std::int64_t elements);

}  // namespace lehr
