// Recognizes functions that libraries have: whether a node of a row expression computes such a function of
// another node, however the function is written.
#pragma once

#include <optional>

#include "workload/rowwise/rowwise.h"

namespace lehr {

struct RowFunction {
  enum class Kind {
    kSoftmax,
    kLogSoftmax,
    kLayerNorm,  ///< (distance from the mean) / (standard deviation), times `scale`, plus `shift`
    kRmsNorm,    ///< the same as kLayerNorm without the mean
    kElement     ///< `op`, by element
  };
  Kind kind = Kind::kElement;
  int of = -1;                 ///< position of the node that is the function's argument
  int scale = -1, shift = -1;  ///< positions of input nodes with one value per column; -1: left out
  float epsilon = 0;           ///< added to the variance
  RowOp op = RowOp::kStep;     ///< kExp, kLog, kSqrt, kAbs or kStep
  EpilogueStep step = {};      ///< with kStep
};

/// Returns the function that `node` computes; nullopt if it computes none. A softmax that does not subtract
/// the maximum is not recognized: its result has other error bounds, and it may overflow.
std::optional<RowFunction> row_function(const Rowwise& rowwise, const RowExpression& expression, int node);

}  // namespace lehr
