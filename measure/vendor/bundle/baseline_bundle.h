// A bundle (`lehr export --out DIR`) as a participant: the speed that a product with it gets.
#pragma once

#include "measure/vendor/vendor_library.h"

namespace lehr::bundle {

/// The bundle in the folder RunSettings::bundle: "bundle" on the processor, "bundle-cuda" on a GPU.
extern const VendorLibrary kLibrary, kCudaLibrary;

}  // namespace lehr::bundle
