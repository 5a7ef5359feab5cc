// Attributes that a model may leave out: the engine adds those of an operator's schema to a graph's nodes,
// but not to operators that are asked for with CreateOp, whose kernels count on them.
#pragma once

#include "plugin/plan.h"

namespace lehr::onnxruntime {

/// Adds to `node`, whose attributes are the last ones of the plan, those that it lacks. False where there is
/// no memory.
bool add_defaults(Plan& plan, PlanNode& node);

}  // namespace lehr::onnxruntime
