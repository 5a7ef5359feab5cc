// oneDNN, version 2 or 3, as a baseline on the CPU. Its fastest algorithm is timed.
#pragma once

#include "measure/vendor/vendor_library.h"

namespace lehr::onednn {

extern const VendorLibrary kLibrary;

}  // namespace lehr::onednn
