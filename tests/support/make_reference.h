// The reference of an operator with one output.
#pragma once

#include "workload/reference.h"

namespace lehr {

inline Reference make_reference(const Workload& workload, const std::vector<std::vector<float>>& inputs,
                                double full_flops = 8e9) {
  return make_references(workload, inputs, full_flops).at(0);
}

}  // namespace lehr
