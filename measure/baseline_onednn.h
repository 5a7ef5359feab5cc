// oneDNN as a baseline: runner "onednn".
#pragma once

#include "measure/baseline_sgemm.h"

namespace lehr {

class OneDnnRunner : public SgemmRunner {
 public:
  OneDnnRunner();
};

}  // namespace lehr
