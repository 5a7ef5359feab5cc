// Workloads that can be made up of smaller ones: rows of a product, images of a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// A size of a workload whose slices lie one after the other in every tensor that grows with it, and are
/// computed apart from each other: slices of a kernel for few are what a kernel for many computes.
struct Slices {
  std::string_view field;  ///< "m", "n"
  std::int64_t count = 0;  ///< its value; of any number of rows those of the call
  std::vector<std::int64_t>
      elements;  ///< of one slice, for each of tensors_of(); 0: the whole tensor belongs to all
};

/// nullopt where there is no such size: a batch of products, or A or C by columns.
std::optional<Slices> slices_of(const Workload& workload);

}  // namespace lehr
