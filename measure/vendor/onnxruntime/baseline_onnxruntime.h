// ONNX Runtime as a library that row expressions are compared with.
#pragma once

#include "measure/vendor/vendor_library.h"

namespace lehr::onnxruntime {

extern const VendorLibrary kLibrary;

}  // namespace lehr::onnxruntime
