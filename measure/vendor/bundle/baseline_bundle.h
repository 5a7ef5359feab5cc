// A bundle (`lehr export --out DIR`) as a participant of contests. It shows the speed that a product gets
// from the bundle.
#pragma once

#include "measure/vendor/vendor_library.h"

namespace lehr::bundle {

/// The bundle in the folder RunSettings::bundle. It is named "bundle" on the CPU and "bundle-cuda" on a GPU.
extern const VendorLibrary kLibrary, kCudaLibrary;

}  // namespace lehr::bundle
