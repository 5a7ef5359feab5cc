// What the GPU is doing, as NVIDIA's management library tells it: read only, and absent is fine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "record/outcome.h"

namespace lehr {

/// libnvidia-ml.so.1, loaded when a value is opened.
class Nvml {
 public:
  struct Functions;

  /// `uuid` as CudaDriver::device_uuid() gives it. nullptr when the library, a function of it or the device
  /// is not there: times count without it.
  static std::unique_ptr<Nvml> open(const std::string& library, const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// nullopt when the driver does not tell (virtual GPUs, MIG).
  std::optional<GpuState> read() const;

 private:
  Nvml();
  void* library_ = nullptr;
  std::unique_ptr<Functions> functions_;
  void* device_ = nullptr;
};

}  // namespace lehr
