// A convolution in double precision, and the largest error of a right result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/conv2d/conv2d.h"
#include "workload/reference_line.h"

namespace lehr {

/// Members of an operator's table (operator.h).
OutputLines reference_lines(const Conv2d& conv, const Epilogue& epilogue);
void reference_line(const Conv2d& conv, const Epilogue& epilogue, std::span<const std::vector<float>> inputs,
                    std::int64_t matrix, std::int64_t row, std::span<OutputLine> lines);
float reference_element(const Conv2d& conv, const Epilogue& epilogue, std::span<const MadeInput> inputs,
                        std::size_t output, std::int64_t index);
double reference_tolerance(const Conv2d& conv, const Epilogue& epilogue, std::int64_t elements);

}  // namespace lehr
