// Finds the integers that a model's inputs may hold. Token ids, types and positions index tables, and an
// engine refuses to run with an index beyond its table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// Returns the least and the greatest number for each input that is an index (or a size), directly or through
/// element-wise nodes. Every number between them is a valid index. Negative numbers, which count from a
/// table's end, are included only if no other numbers are possible. Subgraphs are not read.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_ranges(const OnnxModel& model,
                                                                          const GraphShapes& shapes);

}  // namespace lehr
