// ONNX Runtime as a library to compare row expressions with.
#pragma once

#include "measure/vendor/vendor_library.h"

namespace lehr::onnxruntime {

extern const VendorLibrary kLibrary;

}  // namespace lehr::onnxruntime
