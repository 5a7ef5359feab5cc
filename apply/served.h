// What of a network the kernel families serve on a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "network/layouts.h"
#include "network/places.h"

namespace lehr {

/// The network's places that apply() can replace; the others are gaps, with its reasons. Pools that no family
/// on the device computes together with their convolution are left out: they stay nodes of their own.
NetworkPlaces served_places(const Network& network, const Limits& limits);

/// other_forms() of these places with the families for the device's target: with channels last where an
/// engine calls its kernels. Throws Error(kUser) for bf16 in a network of an opset in which nothing takes it.
OtherForms other_forms_on(const Network& network, const NetworkPlaces& places, const Limits& limits,
                          bool narrow);

/// A workload of a network, and who computes it.
struct ServedWorkload {
  const PlacedWorkload* placed;
  double share = 0;                        ///< of the operations that are known
  std::vector<std::string_view> families;  ///< the names
  std::string unserved;                    ///< why, where there is no family
};
/// Of each workload; refers to them.
std::vector<ServedWorkload> served_by(const NetworkPlaces& places, const Limits& limits);

}  // namespace lehr
