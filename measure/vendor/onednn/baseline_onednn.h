// oneDNN, version 2 or 3, as a baseline on the CPU: by its fastest algorithm.
#pragma once

#include "measure/vendor/vendor_library.h"

namespace lehr::onednn {

extern const VendorLibrary kLibrary;

}  // namespace lehr::onednn
