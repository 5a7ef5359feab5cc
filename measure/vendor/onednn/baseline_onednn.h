// oneDNN as a baseline on the CPU: GEMMs by dnnl_sgemm; convolutions, and GEMMs whose B is constant, by the
// fastest of its ways.
#pragma once

#include "measure/core/vendor_library.h"

namespace lehr::onednn {

extern const VendorLibrary kLibrary;

}  // namespace lehr::onednn
