// Which whole numbers a model's inputs may be: token ids, types and positions index tables, and beyond a
// table an engine refuses to run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// Of each input that is an index (or a size), by itself or through what element-wise nodes make of it, the
/// least and the greatest number with which every table has an element. Negative ones, which count from a
/// table's end, only where nothing else is left. Subgraphs are not read.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_ranges(const OnnxModel& model,
                                                                          const GraphShapes& shapes);

}  // namespace lehr
