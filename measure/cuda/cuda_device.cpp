// Facts of a CUDA device: identity and limits from the driver's attributes, and from its count of clusters.
#include "measure/cuda/cuda_device.h"

#include <fmt/core.h>

#include "measure/cuda/cluster_probe.h"
#include "measure/system/operating_system.h"

namespace lehr {
namespace {

/// "sm_90a" for 9.0: the architecture-specific target that wgmma needs. Others take the plain name.
std::string arch_of(int major, int minor) {
  const std::string plain = fmt::format("sm_{}{}", major, minor);
  return plain == "sm_90" ? "sm_90a" : plain;
}

/// FP32 lanes of one multiprocessor. CUDA C++ Programming Guide 13.0, "Arithmetic Instructions": 64 on 8.0,
/// else 128.
int lanes_per_multiprocessor(int major, int minor) {
  return major == 8 && minor == 0 ? 64 : 128;
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
  const auto ask = [&](CudaAttribute attribute) { return driver.attribute(ordinal, attribute).value_or(0); };
  const int major = ask(CudaAttribute::kCapabilityMajor);
  const int minor = ask(CudaAttribute::kCapabilityMinor);
  Device device;
  device.name = driver.device_name(ordinal);
  if (major < 8) {
    why_not = fmt::format("cuda:{} ({}) is sm_{}{}; Lehr's kernels need sm_80 or newer", ordinal, device.name,
                          major, minor);
    return std::nullopt;
  }
  device.driver = driver.version();
  device.uuid = driver.device_uuid(ordinal);
  device.os = operating_system();
  Limits& limits = device.limits;
  limits.target = Target::kCuda;
  limits.arch = arch_of(major, minor);
  limits.cores = ask(CudaAttribute::kMultiprocessors);
  limits.warp_size = ask(CudaAttribute::kWarpSize);
  limits.max_threads_per_block = ask(CudaAttribute::kMaxThreadsPerBlock);
  limits.max_threads_per_core = ask(CudaAttribute::kMaxThreadsPerMultiprocessor);
  limits.max_blocks_per_core = ask(CudaAttribute::kMaxBlocksPerMultiprocessor);
  limits.registers_per_core = ask(CudaAttribute::kRegistersPerMultiprocessor);
  limits.max_registers_per_thread =
      255;  // CUDA C++ Programming Guide 13.0, technical specifications: all since 5.0
  limits.shared_bytes_per_block = ask(CudaAttribute::kSharedBytesPerBlockOptIn);
  limits.shared_bytes_per_core = ask(CudaAttribute::kSharedBytesPerMultiprocessor);
  limits.l2_bytes = ask(CudaAttribute::kL2Bytes);
  limits.peak_gflops_f32 =
      1e-6 * ask(CudaAttribute::kClockKHz) * limits.cores * lanes_per_multiprocessor(major, minor) * 2;
  // Both edges of the clock carry data, hence the factor 2; bus width in bits, clock in kHz.
  limits.dram_gbytes_per_s =
      2e-6 * ask(CudaAttribute::kMemoryClockKHz) * (ask(CudaAttribute::kMemoryBusBits) / 8.0);
  if (major >= 9) limits.clusters_at_once = clusters_at_once(driver, ordinal, limits);
  return device;
}

std::optional<Device> cuda_device(int ordinal, std::string& why_not) {
  const std::unique_ptr<CudaDriver> driver = CudaDriver::open("libcuda.so.1", why_not);
  if (!driver) return std::nullopt;
  return cuda_device_of(*driver, ordinal, why_not);
}

}  // namespace lehr
