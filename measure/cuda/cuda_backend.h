// NVIDIA's GPUs as a target.
#pragma once

#include "measure/core/backend.h"

namespace lehr {

extern const Backend kCudaBackend;

}  // namespace lehr
