// A device without rates: see identified_device.h.
#include "tune/identified_device.h"

#include "measure/worker/backends.h"

namespace lehr {

Device identified_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                         std::string& note) {
  Device device = choose_device(choice, workload, tools, false, note);
  device.compiler = make_compiler(device.limits, tools, {1, choice.isa})->identity();
  device.cold = choice.cold || (choice.cold_on_host && backend_of(device.limits.target).on_host);
  return device;
}

}  // namespace lehr
