// The CUDA driver wrapped in RAII values and status codes. libcuda.so.1 is loaded when a CudaDriver is
// constructed and never linked. cuda_device.cpp gets facts about the GPU from it, and cuda_runner.cpp runs
// candidates with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/dtype.h"
#include "ir/launch.h"
#include "measure/system/shared_library.h"
#include "runtime/cuda_api.h"

namespace lehr {

/// The result of a driver call. CUDA Driver API 13.0, "Data types used by CUDA driver", enum CUresult.
struct [[nodiscard]] CudaStatus {
  int code = 0;
  const char* call = "";  ///< the function that returned it, "cuMemAlloc"

  bool ok() const { return code == 0; }
  bool out_of_memory() const { return code == 2; }
  bool launch_timeout() const { return code == 702; }
  /// Whether the context is lost, so that every later call fails and only a new process helps. According to
  /// enum CUresult these errors do that: contained error, illegal address or instruction, timeout, assert,
  /// hardware stack error, launch failure, ECC error, unknown error.
  bool sticky() const;
};

/// A version of CUDA, of a driver or of a compiler.
struct CudaVersion {
  int major = 0, minor = 0;
  friend bool operator==(const CudaVersion&, const CudaVersion&) = default;
};
/// Returns "12.9".
std::string to_text(const CudaVersion& version);
/// Returns the CUDA version that the installed driver supports, without initializing the driver; nullopt if
/// there is no driver.
std::optional<CudaVersion> installed_driver_version(const std::string& library = "libcuda.so.1");

/// The loaded driver with its functions. It must outlive everything that is made with it.
class CudaDriver {
 public:
  struct Functions;

  /// Opens the driver. Returns nullptr and sets `why_not` to the reason if the library is missing, lacks a
  /// function, or cuInit fails (no GPU).
  static std::unique_ptr<CudaDriver> open(const std::string& library, std::string& why_not);
  ~CudaDriver();
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  /// Returns "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered) from
  /// cuStreamSynchronize".
  std::string text_of(CudaStatus status) const;

  std::string version() const;  ///< CUDA version that the driver supports: "13.0"
  int device_count() const;
  std::string device_name(int ordinal) const;  ///< "" if not known; device_uuid() too
  std::string device_uuid(
      int ordinal) const;  ///< "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as nvidia-smi prints it
  std::optional<int> attribute(int ordinal, CudaAttribute attribute) const;

  const Functions& functions() const { return *functions_; }

 private:
  CudaDriver();
  void* library_ = nullptr;
  std::unique_ptr<Functions> functions_;
};

/// The device's primary context. It is current on the calling thread while this object lives.
class CudaContext {
 public:
  CudaContext() = default;
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  CudaStatus open(const CudaDriver& driver, int ordinal);

 private:
  const CudaDriver* driver_ = nullptr;
  int device_ = 0;
};

/// Device memory. Fills and writes finish before later work of a CudaStream begins. Reads begin after earlier
/// work of the stream has finished.
class CudaMemory {
 public:
  CudaMemory() = default;
  CudaMemory(CudaMemory&& other) noexcept { swap(other); }
  CudaMemory& operator=(CudaMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~CudaMemory();
  CudaStatus allocate(const CudaDriver& driver, std::int64_t bytes);

  CudaAddress address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }
  CudaStatus fill(std::int64_t offset, unsigned char value, std::int64_t bytes) const;
  CudaStatus write(std::int64_t offset, const void* from, std::int64_t bytes) const;
  CudaStatus read(std::int64_t offset, void* to, std::int64_t bytes) const;

 private:
  void swap(CudaMemory& other);
  const CudaDriver* driver_ = nullptr;
  CudaAddress address_ = 0;
  std::int64_t bytes_ = 0;
};

/// Returns the driver's arguments for a tensor map of a tensor of `type`, without the tensor's address.
CudaTensorMapArguments arguments_of(const ir::TensorMap& map, DType type);
/// Makes the tensor map that a kernel gets as an argument instead of the address of a tensor of `type`. Needs
/// compute capability 9.0, and an address that is a multiple of 16.
CudaStatus encode_tensor_map(const CudaDriver& driver, const ir::TensorMap& map, DType type,
                             CudaAddress address, CudaTensorMap& result);

/// A loaded cubin and one of its kernels.
class CudaKernel {
 public:
  /// Loads `image`, a cubin in memory, onto the device.
  CudaStatus load(const CudaDriver& driver, const void* image, const std::string& entry);

  std::optional<int> attribute(CudaFunctionAttribute attribute) const;
  /// Allows launches with up to `bytes` of dynamic shared memory; needed above 48 KiB.
  CudaStatus allow_dynamic_shared(std::int64_t bytes) const;
  /// Returns how many clusters the device runs at the same time. A cluster has `blocks` blocks, each with
  /// `threads` threads and `shared_bytes` of dynamic shared memory. nullopt: the driver does not support the
  /// query, or such clusters are not possible.
  std::optional<int> clusters_at_once(int blocks, int threads, std::int64_t shared_bytes) const;
  void* function() const { return function_; }

 private:
  const CudaDriver* driver_ = nullptr;
  LibraryHandle module_;
  void* function_ = nullptr;
};

/// A stream with two timing events.
class CudaStream {
 public:
  CudaStatus open(const CudaDriver& driver);

  CudaStatus launch(const CudaKernel& kernel, const ir::Launch& shape, void** arguments) const;
  CudaStatus fill(CudaAddress address, unsigned char value, std::int64_t bytes) const;  ///< does not wait
  CudaStatus record_begin() const;
  CudaStatus record_end() const;
  CudaStatus wait() const;
  /// Returns the time between the two records, after wait(). The events' resolution is about 0.5 us.
  CudaStatus elapsed_us(double& us) const;
  /// From now on records launches instead of running them, until end_capture().
  CudaStatus begin_capture() const;
  /// Ends the recording. The graph is uploaded to the device as later work of this stream, so that its first
  /// launch takes no longer than the others.
  CudaStatus end_capture(class CudaGraph& graph) const;
  CudaStatus launch(const class CudaGraph& graph) const;
  /// Returns the CUstream, for libraries that launch their own work on it.
  void* handle() const { return stream_.get(); }

 private:
  const CudaDriver* driver_ = nullptr;
  LibraryHandle stream_, begin_, end_;  ///< the events are destroyed first
};

/// Captured launches that the device runs one after the other without the host.
class CudaGraph {
  friend class CudaStream;
  LibraryHandle executable_;
};

}  // namespace lehr
