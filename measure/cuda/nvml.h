// Reads the state of a GPU from NVIDIA's management library. It may be missing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "record/outcome.h"

namespace lehr {

/// libnvidia-ml.so.1. It is loaded when an object is opened.
class Nvml {
 public:
  struct Functions;

  /// Opens the library. `uuid` is the device's (CudaDriver::device_uuid()). Returns nullptr if the library,
  /// one of its functions or the device is missing. Times are valid without NVML.
  static std::unique_ptr<Nvml> open(const std::string& library, const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Returns the state; nullopt if the driver does not report it (virtual GPUs, MIG).
  std::optional<GpuState> read() const;

 private:
  Nvml();
  void* library_ = nullptr;
  std::unique_ptr<Functions> functions_;
  void* device_ = nullptr;
};

}  // namespace lehr
