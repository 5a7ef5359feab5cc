// The CPU of this machine as a target.
#pragma once

#include "measure/core/backend.h"

namespace lehr {

extern const Backend kHostBackend;

}  // namespace lehr
