// One of the algorithms with which oneDNN can compute a problem.
#pragma once

#include <functional>
#include <string>

namespace lehr::onednn {

struct Algorithm {
  std::string name;            ///< "sgemm"; with the kernel that runs, "packed matmul, brgemm:avx2"
  std::function<void()> call;  ///< computes the output; a failed call does not change it
};

}  // namespace lehr::onednn
