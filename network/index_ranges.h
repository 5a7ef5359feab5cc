// Which integers a model's inputs may be. Token ids, types and positions index tables, and beyond a table an
// engine refuses to run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// Returns the least and the greatest number for each input that is an index (or a size), directly or through
/// element-wise nodes: with any of these, every table has an element. Negative numbers, which count from a
/// table's end, are included only if no others are possible. Subgraphs are not read.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_ranges(const OnnxModel& model,
                                                                          const GraphShapes& shapes);

}  // namespace lehr
