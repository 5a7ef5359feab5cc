// Wraps the driver's functions.
#include "measure/cuda/cuda_driver.h"

#include <fmt/core.h>

#include <string_view>

#include "measure/cuda/cuda_functions.h"
#include "measure/system/shared_library.h"

namespace lehr {

namespace {

constexpr unsigned kStreamDefault = 0;  // CU_STREAM_DEFAULT: ordered with the fills and copies of CudaMemory
constexpr int kCaptureModeThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
constexpr std::size_t kUuidBytes = 16;

/// Returns enum CUtensorMapDataType. 8-bit floats are copied as bytes.
int tensor_map_type(DType type, bool tf32) {
  switch (type) {
    case DType::kF64:
      return 8;
    case DType::kF32:
      return tf32 ? 11 : 7;
    case DType::kF16:
      return 6;
    case DType::kBF16:
      return 9;
    case DType::kS32:
      return 3;
    case DType::kU32:
      return 2;
    case DType::kU16:
      return 1;
    case DType::kS64:
      return 5;
    case DType::kS8:
    case DType::kU8:
    case DType::kE4M3:
    case DType::kE5M2:
    case DType::kS16:
    case DType::kS7:  // no tensor map has these types
      return 0;
  }
  return 0;
}
/// Returns enum CUtensorMapSwizzle.
int tensor_map_swizzle(std::int64_t bytes) {
  if (bytes == 128) return 3;
  if (bytes == 64) return 2;
  return bytes == 32 ? 1 : 0;
}

}  // namespace

namespace {

/// Returns 13.0 for 13000.
CudaVersion version_of(int number) {
  return {number / 1000, number % 1000 / 10};
}

}  // namespace

std::string to_text(const CudaVersion& version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

std::optional<CudaVersion> installed_driver_version(const std::string& library) {
  void* const handle = load_library(std::span(&library, 1)).handle;
  if (!handle) return std::nullopt;
  int number = 0;
  auto* const ask = function_of<int(int*)>(handle, "cuDriverGetVersion");
  // 0: there is a library, but no driver.
  const bool answered = ask != nullptr && ask(&number) == 0 && number > 0;
  dlclose(handle);
  return answered ? std::optional(version_of(number)) : std::nullopt;
}

bool CudaStatus::sticky() const {
  switch (code) {
    case 214:  // ECC uncorrectable
    case 226:  // contained
    case 700:  // illegal address
    case 702:  // launch timeout
    case 709:  // context is destroyed
    case 710:  // assert
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid pc
    case 719:  // launch failed
    case 721:  // tensor memory leak
    case 999:  // unknown
      return true;
    default:
      return false;
  }
}

CudaDriver::CudaDriver() = default;
CudaDriver::~CudaDriver() {
  functions_.reset();
  if (library_) dlclose(library_);
}

std::unique_ptr<CudaDriver> CudaDriver::open(const std::string& library, std::string& why_not) {
  std::unique_ptr<CudaDriver> driver(new CudaDriver());
  driver->library_ = load_library(std::span(&library, 1)).handle;
  if (!driver->library_) {
    why_not =
        fmt::format("{} was not found: install NVIDIA's driver (525 or newer) to run CUDA kernels", library);
    return nullptr;
  }
  driver->functions_ = std::make_unique<Functions>();
  if (const std::string_view missing = driver->functions_->find(driver->library_); !missing.empty()) {
    why_not = fmt::format("{} has no function {}: install NVIDIA's driver 525 or newer", library, missing);
    return nullptr;
  }
  driver->functions_->occupancy_max_active_clusters = function_of<int(int*, void*, const CudaLaunchConfig*)>(
      driver->library_, "cuOccupancyMaxActiveClusters");
  if (const CudaStatus status{driver->functions_->init(0), "cuInit"}; !status.ok()) {
    why_not = fmt::format("the CUDA driver does not start: {}", driver->text_of(status));
    return nullptr;
  }
  return driver;
}

std::string CudaDriver::text_of(CudaStatus status) const {
  const char* name = nullptr;
  const char* meaning = nullptr;
  functions_->error_name(status.code, &name);
  functions_->error_string(status.code, &meaning);
  if (!name) return fmt::format("CUDA error {} from {}", status.code, status.call);
  return fmt::format("{} ({}) from {}", name, meaning ? meaning : "no description", status.call);
}

std::string CudaDriver::version() const {
  int version = 0;
  if (functions_->driver_version(&version) != 0) return "";
  return to_text(version_of(version));
}

int CudaDriver::device_count() const {
  int count = 0;
  return functions_->device_count(&count) == 0 ? count : 0;
}

std::string CudaDriver::device_name(int ordinal) const {
  int device = 0;
  char name[256] = {};
  if (functions_->device_get(&device, ordinal) != 0 ||
      functions_->device_name(name, sizeof name, device) != 0) {
    return "";
  }
  return name;
}

std::string CudaDriver::device_uuid(int ordinal) const {
  int device = 0;
  unsigned char uuid[kUuidBytes] = {};
  if (functions_->device_get(&device, ordinal) != 0 || functions_->device_uuid(uuid, device) != 0) return "";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < kUuidBytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::optional<int> CudaDriver::attribute(int ordinal, CudaAttribute attribute) const {
  int device = 0;
  int value = 0;
  if (functions_->device_get(&device, ordinal) != 0) return std::nullopt;
  if (functions_->device_attribute(&value, static_cast<int>(attribute), device) != 0) return std::nullopt;
  return value;
}

CudaStatus CudaContext::open(const CudaDriver& driver, int ordinal) {
  const CudaDriver::Functions& f = driver.functions();
  int device = 0;
  if (const CudaStatus status{f.device_get(&device, ordinal), "cuDeviceGet"}; !status.ok()) return status;
  void* context = nullptr;
  if (const CudaStatus status{f.context_retain(&context, device), "cuDevicePrimaryCtxRetain"}; !status.ok()) {
    return status;
  }
  driver_ = &driver;
  device_ = device;
  return {f.context_set_current(context), "cuCtxSetCurrent"};
}

CudaContext::~CudaContext() {
  if (driver_) driver_->functions().context_release(device_);
}

CudaStatus CudaMemory::allocate(const CudaDriver& driver, std::int64_t bytes) {
  *this = CudaMemory();
  const CudaStatus status{driver.functions().memory_allocate(&address_, static_cast<std::size_t>(bytes)),
                          "cuMemAlloc"};
  if (status.ok()) {
    driver_ = &driver;
    bytes_ = bytes;
  }
  return status;
}
CudaMemory::~CudaMemory() {
  if (driver_) driver_->functions().memory_free(address_);
}
void CudaMemory::swap(CudaMemory& other) {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
}
CudaStatus CudaMemory::fill(std::int64_t offset, unsigned char value, std::int64_t bytes) const {
  if (bytes == 0) return {};
  return {driver_->functions().fill(address_ + static_cast<CudaAddress>(offset), value,
                                    static_cast<std::size_t>(bytes)),
          "cuMemsetD8"};
}
CudaStatus CudaMemory::write(std::int64_t offset, const void* from, std::int64_t bytes) const {
  if (bytes == 0) return {};
  return {driver_->functions().copy_to_device(address_ + static_cast<CudaAddress>(offset), from,
                                              static_cast<std::size_t>(bytes)),
          "cuMemcpyHtoD"};
}
CudaStatus CudaMemory::read(std::int64_t offset, void* to, std::int64_t bytes) const {
  if (bytes == 0) return {};
  return {driver_->functions().copy_to_host(to, address_ + static_cast<CudaAddress>(offset),
                                            static_cast<std::size_t>(bytes)),
          "cuMemcpyDtoH"};
}

CudaTensorMapArguments arguments_of(const ir::TensorMap& map, DType type) {
  CudaTensorMapArguments arguments;
  arguments.im2col = map.im2col.has_value();
  arguments.type = tensor_map_type(type, map.tf32);
  arguments.rank = static_cast<unsigned>(map.rank);
  arguments.swizzle = tensor_map_swizzle(map.swizzle);
  for (std::size_t d = 0; d < arguments.rank; ++d) {
    arguments.dims[d] = static_cast<std::uint64_t>(map.dims[d]);
    if (!map.im2col) arguments.box[d] = static_cast<unsigned>(map.box[d]);
    if (d > 0) arguments.stride_bytes[d - 1] = static_cast<std::uint64_t>(map.strides[d] * size_of(type));
    arguments.steps[d] = 1;
  }
  if (!map.im2col) return arguments;
  arguments.channels = static_cast<unsigned>(map.box[0]);
  arguments.pixels = static_cast<unsigned>(map.im2col->pixels);
  for (std::size_t d = 0; d < arguments.lower.size(); ++d) {
    arguments.lower[d] = static_cast<int>(map.im2col->lower[d]);
    arguments.upper[d] = static_cast<int>(map.im2col->upper[d]);
    arguments.steps[d + 1] = static_cast<unsigned>(map.im2col->step[d]);
  }
  return arguments;
}

CudaStatus encode_tensor_map(const CudaDriver& driver, const ir::TensorMap& map, DType type,
                             CudaAddress address, CudaTensorMap& result) {
  const CudaDriver::Functions& f = driver.functions();
  return {cuda_encode(f.tensor_map_encode_tiled, f.tensor_map_encode_im2col, arguments_of(map, type),
                      reinterpret_cast<void*>(address), result),
          map.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled"};
}

CudaStatus CudaKernel::load(const CudaDriver& driver, const void* image, const std::string& entry) {
  *this = CudaKernel();
  const CudaDriver::Functions& f = driver.functions();
  void* module = nullptr;
  if (const CudaStatus status{f.module_load(&module, image), "cuModuleLoadData"}; !status.ok()) return status;
  module_ = LibraryHandle(module, {f.module_unload});
  driver_ = &driver;
  return {f.module_function(&function_, module, entry.c_str()), "cuModuleGetFunction"};
}
std::optional<int> CudaKernel::attribute(CudaFunctionAttribute attribute) const {
  int value = 0;
  if (driver_->functions().function_attribute(&value, static_cast<int>(attribute), function_) != 0)
    return std::nullopt;
  return value;
}
CudaStatus CudaKernel::allow_dynamic_shared(std::int64_t bytes) const {
  return {driver_->functions().set_function_attribute(
              function_, static_cast<int>(CudaFunctionAttribute::kMaxDynamicSharedBytes),
              static_cast<int>(bytes)),
          "cuFuncSetAttribute"};
}

std::optional<int> CudaKernel::clusters_at_once(int blocks, int threads, std::int64_t shared_bytes) const {
  const auto ask = driver_->functions().occupancy_max_active_clusters;
  if (ask == nullptr) return std::nullopt;
  CudaLaunchAttribute cluster;
  cluster.id = kCudaClusterDimension;
  cluster.cluster = {static_cast<unsigned>(blocks), 1, 1};
  CudaLaunchConfig config;
  config.grid = cluster.cluster;
  config.block = {static_cast<unsigned>(threads), 1, 1};
  config.shared_bytes = static_cast<unsigned>(shared_bytes);
  config.attributes = &cluster;
  config.attribute_count = 1;
  int count = 0;
  if (ask(&count, function_, &config) != 0) return std::nullopt;
  return count;
}

CudaStatus CudaStream::open(const CudaDriver& driver) {
  driver_ = &driver;
  const CudaDriver::Functions& f = driver.functions();
  void* made = nullptr;
  if (const CudaStatus status{f.stream_create(&made, kStreamDefault), "cuStreamCreate"}; !status.ok())
    return status;
  stream_ = LibraryHandle(made, {f.stream_destroy});
  for (LibraryHandle* event : {&begin_, &end_}) {
    if (const CudaStatus status{f.event_create(&made, 0), "cuEventCreate"}; !status.ok()) return status;
    *event = LibraryHandle(made, {f.event_destroy});
  }
  return {};
}
CudaStatus CudaStream::launch(const CudaKernel& kernel, const ir::Launch& shape, void** arguments) const {
  CudaLaunchAttribute programmatic;
  programmatic.id = kCudaProgrammaticStreamSerialization;
  programmatic.allowed = 1;
  CudaLaunchConfig config;
  for (std::size_t d = 0; d < 3; ++d) {
    config.grid[d] = static_cast<unsigned>(shape.grid[d]);
    config.block[d] = static_cast<unsigned>(shape.block[d]);
  }
  config.shared_bytes = static_cast<unsigned>(shape.shared_bytes);
  config.stream = stream_.get();
  config.attributes = &programmatic;
  config.attribute_count = shape.programmatic ? 1 : 0;
  return {driver_->functions().launch(&config, kernel.function(), arguments, nullptr), "cuLaunchKernelEx"};
}
CudaStatus CudaStream::fill(CudaAddress address, unsigned char value, std::int64_t bytes) const {
  return {driver_->functions().fill_async(address, value, static_cast<std::size_t>(bytes), stream_.get()),
          "cuMemsetD8Async"};
}
CudaStatus CudaStream::record_begin() const {
  return {driver_->functions().event_record(begin_.get(), stream_.get()), "cuEventRecord"};
}
CudaStatus CudaStream::record_end() const {
  return {driver_->functions().event_record(end_.get(), stream_.get()), "cuEventRecord"};
}
CudaStatus CudaStream::wait() const {
  return {driver_->functions().stream_synchronize(stream_.get()), "cuStreamSynchronize"};
}
CudaStatus CudaStream::elapsed_us(double& us) const {
  float milliseconds = 0;
  const CudaStatus status{driver_->functions().event_elapsed(&milliseconds, begin_.get(), end_.get()),
                          "cuEventElapsedTime"};
  us = static_cast<double>(milliseconds) * 1000;
  return status;
}
CudaStatus CudaStream::begin_capture() const {
  return {driver_->functions().stream_begin_capture(stream_.get(), kCaptureModeThreadLocal),
          "cuStreamBeginCapture"};
}
CudaStatus CudaStream::end_capture(CudaGraph& graph) const {
  void* captured = nullptr;
  if (const CudaStatus status{driver_->functions().stream_end_capture(stream_.get(), &captured),
                              "cuStreamEndCapture"};
      !status.ok()) {
    return status;
  }
  void* executable = nullptr;
  const CudaStatus status{driver_->functions().graph_instantiate(&executable, captured, 0),
                          "cuGraphInstantiateWithFlags"};
  driver_->functions().graph_destroy(captured);
  if (!status.ok()) return status;
  graph.executable_ = LibraryHandle(executable, {driver_->functions().graph_executable_destroy});
  // Without this the first launch uploads the graph, between the events that time it.
  return {driver_->functions().graph_upload(executable, stream_.get()), "cuGraphUpload"};
}
CudaStatus CudaStream::launch(const CudaGraph& graph) const {
  return {driver_->functions().graph_launch(graph.executable_.get(), stream_.get()), "cuGraphLaunch"};
}

}  // namespace lehr
