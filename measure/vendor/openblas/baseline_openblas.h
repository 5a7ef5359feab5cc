// OpenBLAS as a baseline: runner "openblas".
#pragma once

#include "measure/vendor/baseline_sgemm.h"

namespace lehr {

class OpenBlasRunner : public SgemmRunner {
 public:
  OpenBlasRunner();
};

}  // namespace lehr
