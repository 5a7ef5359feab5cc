// What a row expression is in double precision, and how far right values may be from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/reference_line.h"
#include "workload/rowwise/rowwise.h"

namespace lehr {

/// As the members of an operator's table (operator.h). The lines have bounds: what arithmetic in f32 may be
/// off by in any order of summation, propagated from node to node; infinite where two right kernels may
/// differ widely (on the two sides of a comparison).
OutputLines reference_lines(const Rowwise& rowwise, const Epilogue& epilogue);
void reference_line(const Rowwise& rowwise, const Epilogue& epilogue,
                    std::span<const std::vector<float>> inputs, std::int64_t matrix, std::int64_t row,
                    std::span<OutputLine> lines);
float reference_element(const Rowwise& rowwise, const Epilogue& epilogue, std::span<const MadeInput> inputs,
                        std::size_t output, std::int64_t index);
/// Returns 0: no bound holds for all elements.
double reference_tolerance(const Rowwise& rowwise, const Epilogue& epilogue, std::int64_t elements);

}  // namespace lehr
