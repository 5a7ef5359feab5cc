// Prototypes and enumerators are declared by hand from the NVML API Reference Guide 13.0 ("Initialization and
// Cleanup", "Device Queries"), so that no header is needed.
#include "measure/cuda/nvml.h"

#include "measure/system/shared_library.h"

namespace lehr {

struct Nvml::Functions : LibraryFunctions {
  Function<int()> init{this, "nvmlInit_v2"};
  Function<int()> shutdown{this, "nvmlShutdown"};
  Function<int(const char*, void**)> by_uuid{this, "nvmlDeviceGetHandleByUUID"};
  Function<int(void*, int, unsigned*)> clock{this, "nvmlDeviceGetClockInfo"};
  Function<int(void*, unsigned*)> power{this, "nvmlDeviceGetPowerUsage"};
  Function<int(void*, int, unsigned*)> temperature{this, "nvmlDeviceGetTemperature"};
};

namespace {

constexpr int kClockSm = 1;         // nvmlClockType_t NVML_CLOCK_SM
constexpr int kTemperatureGpu = 0;  // nvmlTemperatureSensors_t NVML_TEMPERATURE_GPU

}  // namespace

Nvml::Nvml() = default;

Nvml::~Nvml() {
  if (functions_) functions_->shutdown();
  if (library_) dlclose(library_);
}

std::unique_ptr<Nvml> Nvml::open(const std::string& library, const std::string& uuid) {
  std::unique_ptr<Nvml> nvml(new Nvml());
  nvml->library_ = load_library(std::span(&library, 1)).handle;
  if (!nvml->library_) return nullptr;
  auto functions = std::make_unique<Functions>();
  if (!functions->find(nvml->library_).empty() || functions->init() != 0) return nullptr;
  nvml->functions_ = std::move(functions);
  if (nvml->functions_->by_uuid(uuid.c_str(), &nvml->device_) != 0) return nullptr;
  return nvml;
}

std::optional<GpuState> Nvml::read() const {
  unsigned megahertz = 0;
  unsigned milliwatts = 0;
  unsigned celsius = 0;
  if (functions_->clock(device_, kClockSm, &megahertz) != 0 || functions_->power(device_, &milliwatts) != 0 ||
      functions_->temperature(device_, kTemperatureGpu, &celsius) != 0) {
    return std::nullopt;
  }
  return GpuState{static_cast<double>(megahertz), milliwatts / 1000.0, static_cast<double>(celsius)};
}

}  // namespace lehr
