// An algorithm with which oneDNN can compute a problem.
#pragma once

#include <functional>
#include <string>

namespace lehr::onednn {

struct Algorithm {
  std::string name;            ///< "sgemm"; if the kernel is known, "packed matmul, brgemm:avx2"
  std::function<void()> call;  ///< computes the output; a failed call does not change it
};

}  // namespace lehr::onednn
