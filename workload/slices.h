// Workloads that can be composed of smaller ones: rows of a product, images of a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// A size of a workload whose slices lie one after the other in every tensor that grows with it, and are
/// computed independently: kernels for few slices compute slices of a larger workload.
struct Slices {
  std::string_view field;  ///< "m", "n"
  std::int64_t count = 0;  ///< value of the field; with any number of rows, the rows of the call
  std::vector<std::int64_t>
      elements;  ///< elements of one slice, for each of tensors_of(); 0: the whole tensor belongs to all
};

/// Returns nullopt if there is no such size: a batch of products, or A or C by columns.
std::optional<Slices> slices_of(const Workload& workload);

}  // namespace lehr
