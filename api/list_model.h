// The workloads of a network, and who computes them. For cli/ alone.
#pragma once

#include "api/best.h"

namespace lehr::api {

/// Lists what of a network is tuned on a device, and what is not. Throws api::Error.
Listing list_model(const Model& model, const DeviceOptions& options, const OnProgress& on_note);

}  // namespace lehr::api
