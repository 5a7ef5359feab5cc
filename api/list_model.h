// The workloads of a network, and the kernel families that compute them. Only for cli/.
#pragma once

#include "api/best.h"

namespace lehr::api {

/// Lists the workloads of a network that can be tuned on a device, and those that cannot. `width` is the
/// maximum width of a table's lines; 0: no limit. Throws api::Error.
Listing list_model(const NetworkFile& model, const DeviceOptions& options, const OnProgress& on_note,
                   std::size_t width);

}  // namespace lehr::api
