// Workloads that can be composed of smaller ones: rows of a product, images of a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// A size of a workload that can be divided into slices. The slices follow each other in every tensor that
/// grows with the size, and are computed independently, so that kernels for few slices can compute slices of
/// a larger workload.
struct Slices {
  std::string_view field;  ///< "m", "n"
  std::int64_t count = 0;  ///< value of the field; with any number of rows, the rows of the described call
  std::vector<std::int64_t>
      elements;  ///< elements of one slice in each of tensors_of(); 0: all slices share the whole tensor
};

/// Returns nullopt if the workload has no such size: for a batch of products, and if A or C is stored by
/// columns.
std::optional<Slices> slices_of(const Workload& workload);

}  // namespace lehr
