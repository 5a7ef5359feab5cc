// What a matrix product is in double precision, and how far a right one may be from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/gemm/gemm.h"
#include "workload/reference_line.h"

namespace lehr {

/// As the members of an operator's table (operator.h).
OutputLines reference_lines(const Gemm& gemm, const Epilogue& epilogue);
void reference_line(const Gemm& gemm, const Epilogue& epilogue, std::span<const std::vector<float>> inputs,
                    std::int64_t matrix, std::int64_t row, std::span<OutputLine> lines);
float reference_element(const Gemm& gemm, const Epilogue& epilogue, std::span<const MadeInput> inputs,
                        std::size_t output, std::int64_t index);
double reference_tolerance(const Gemm& gemm, const Epilogue& epilogue, std::int64_t elements);

}  // namespace lehr
