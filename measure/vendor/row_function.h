// Recognizes functions that libraries have: a node of a row expression as such a function of another node,
// however it is written.
#pragma once

#include <optional>

#include "workload/rowwise/rowwise.h"

namespace lehr {

struct RowFunction {
  enum class Kind {
    kSoftmax,
    kLogSoftmax,
    kLayerNorm,  ///< distances from the mean over the deviation, with `scale` and `shift`
    kRmsNorm,    ///< the same without the mean
    kElement     ///< `op`, by element
  };
  Kind kind = Kind::kElement;
  int of = -1;                 ///< the node that it is a function of
  int scale = -1, shift = -1;  ///< nodes of inputs with a value for each column; -1: left out
  float epsilon = 0;           ///< added to the variance
  RowOp op = RowOp::kStep;     ///< kExp, kLog, kSqrt, kAbs or kStep
  EpilogueStep step = {};      ///< with kStep
};

/// Returns the function that `node` computes; nullopt for any other node. A softmax that does not subtract
/// its largest exponent does not count: it has other bounds, and overflows.
std::optional<RowFunction> row_function(const Rowwise& rowwise, const RowExpression& expression, int node);

}  // namespace lehr
