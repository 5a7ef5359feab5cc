#include "record/device.h"

#include <fmt/core.h>

namespace lehr {

std::string identity_of(const Device& device) {
  return fmt::format("{} | {} | {} | cores={} | driver={} | {}{}", name_of(device.limits.target), device.name,
                     device.limits.arch, device.limits.cores, device.driver, device.compiler,
                     device.cold ? " | cold caches" : "");
}

}  // namespace lehr
