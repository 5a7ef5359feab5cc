// The workloads of a network, and who computes them. For cli/ alone.
#pragma once

#include "api/best.h"

namespace lehr::api {

/// Lists the workloads of a network that can be tuned on a device, and those that cannot. `width` is the
/// longest line of a table; 0: no limit. Throws api::Error.
Listing list_model(const NetworkFile& model, const DeviceOptions& options, const OnProgress& on_note,
                   std::size_t width);

}  // namespace lehr::api
