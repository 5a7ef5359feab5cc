// Facts about a CUDA device: identity and limits from the driver's attributes, and from its query for
// clusters.
#include "measure/cuda/cuda_device.h"

#include <fmt/format.h>

#include "measure/cuda/cluster_probe.h"
#include "measure/system/operating_system.h"
#include "target/cuda/archs.h"

namespace lehr {
namespace {

/// Asks the driver for the limits. Its answers replace the values from the table of architectures.
void ask_limits(const CudaDriver& driver, int ordinal, Limits& limits) {
  const auto ask = [&](CudaAttribute attribute, auto& value) {
    if (const auto answer = driver.attribute(ordinal, attribute)) value = *answer;
  };
  ask(CudaAttribute::kMultiprocessors, limits.cores);
  ask(CudaAttribute::kWarpSize, limits.warp_size);
  ask(CudaAttribute::kMaxThreadsPerBlock, limits.max_threads_per_block);
  ask(CudaAttribute::kMaxThreadsPerMultiprocessor, limits.max_threads_per_core);
  ask(CudaAttribute::kMaxBlocksPerMultiprocessor, limits.max_blocks_per_core);
  ask(CudaAttribute::kRegistersPerMultiprocessor, limits.registers_per_core);
  ask(CudaAttribute::kSharedBytesPerBlockOptIn, limits.shared_bytes_per_block);
  ask(CudaAttribute::kSharedBytesPerMultiprocessor, limits.shared_bytes_per_core);
  ask(CudaAttribute::kReservedSharedBytesPerBlock, limits.shared_bytes_reserved);
  ask(CudaAttribute::kL2Bytes, limits.l2_bytes);
  double clock_khz = 0, memory_khz = 0, bus_bits = 0;
  ask(CudaAttribute::kClockKHz, clock_khz);
  scale_rates(limits, 1e-6 * clock_khz * limits.cores * limits.f32_lanes * 2);
  ask(CudaAttribute::kMemoryClockKHz, memory_khz);
  ask(CudaAttribute::kMemoryBusBits, bus_bits);
  // Both edges of the clock carry data, hence the factor 2.
  const double gbytes = 2e-6 * memory_khz * (bus_bits / 8.0);
  if (gbytes > 0) limits.dram_gbytes_per_s = gbytes;
}

}  // namespace

std::optional<Device> cuda_device_of(const CudaDriver& driver, int ordinal, std::string& why_not) {
  const int count = driver.device_count();
  if (ordinal < 0 || ordinal >= count) {
    why_not = count == 0 ? "the CUDA driver finds no GPU"
                         : fmt::format("there is no cuda:{}; this machine has cuda:0 to cuda:{}", ordinal,
                                       count - 1);
    return std::nullopt;
  }
  const CudaCapability capability = {driver.attribute(ordinal, CudaAttribute::kCapabilityMajor).value_or(0),
                                     driver.attribute(ordinal, CudaAttribute::kCapabilityMinor).value_or(0)};
  Device device;
  device.name = driver.device_name(ordinal);
  const std::optional<Limits> limits = cuda_card_limits(capability, device.name);
  if (!limits) {
    why_not = fmt::format("cuda:{} ({}) is sm_{}{}; Lehr's kernels are for {}", ordinal, device.name,
                          capability.major, capability.minor, fmt::join(known_cuda_archs(), ", "));
    return std::nullopt;
  }
  device.driver = driver.version();
  device.uuid = driver.device_uuid(ordinal);
  device.os = operating_system();
  device.limits = *limits;
  ask_limits(driver, ordinal, device.limits);
  if (limits->has(Ability::kWgmma))
    device.limits.clusters_at_once = clusters_at_once(driver, ordinal, device.limits);
  return device;
}

std::optional<Device> cuda_device(int ordinal, std::string& why_not) {
  const std::unique_ptr<CudaDriver> driver = CudaDriver::open("libcuda.so.1", why_not);
  if (!driver) return std::nullopt;
  return cuda_device_of(*driver, ordinal, why_not);
}

}  // namespace lehr
