// The workloads of a network, and who computes them. For cli/ alone.
#pragma once

#include "api/best.h"

namespace lehr::api {

/// Lists what of a network is tuned on a device, and what is not. `width` is the longest line that a table
/// may have; 0: any. Throws api::Error.
Listing list_model(const Model& model, const DeviceOptions& options, const OnProgress& on_note,
                   std::size_t width);

}  // namespace lehr::api
