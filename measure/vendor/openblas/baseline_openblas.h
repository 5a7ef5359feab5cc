// OpenBLAS as a baseline of f32 matrix products on the CPU.
#pragma once

#include "measure/vendor/vendor_library.h"

namespace lehr::openblas {

extern const VendorLibrary kLibrary;

}  // namespace lehr::openblas
