// The CUDA driver and what a bundle has loaded with it. The driver is a library of the system that is found
// by the loader's own search, as every program finds it, and only where a bundle has kernels for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda_api.h"
#include "runtime/manifest.h"
#include "runtime/memory.h"

namespace lehr::runtime {

/// Of libcuda.so.1; prototypes from the CUDA Driver API 13.0 manual.
struct CudaFunctions {
  CudaCode (*init)(unsigned) = nullptr;
  CudaCode (*driver_version)(int*) = nullptr;
  CudaCode (*error_name)(CudaCode, const char**) = nullptr;
  CudaCode (*device_get)(int*, int) = nullptr;
  CudaCode (*device_attribute)(int*, int, int) = nullptr;
  CudaCode (*context_retain)(void**, int) = nullptr;
  CudaCode (*context_release)(int) = nullptr;
  CudaCode (*context_current)(void**) = nullptr;
  CudaCode (*context_device)(int*) = nullptr;
  CudaCode (*context_push)(void*) = nullptr;
  CudaCode (*context_pop)(void**) = nullptr;
  CudaCode (*module_load)(void**, const void*) = nullptr;
  CudaCode (*module_unload)(void*) = nullptr;
  CudaCode (*module_function)(void**, void*, const char*) = nullptr;
  CudaCode (*function_attribute)(int*, int, void*) = nullptr;
  CudaCode (*set_function_attribute)(void*, int, int) = nullptr;
  CudaCode (*copy_async)(CudaAddress, CudaAddress, std::size_t, void*) = nullptr;
  CudaCode (*fill_async)(CudaAddress, unsigned char, std::size_t, void*) = nullptr;
  CudaLaunchKernelEx* launch = nullptr;
  CudaOccupancyMaxActiveClusters* active_clusters = nullptr;
  CudaEncodeTiled* encode_tiled = nullptr;
  CudaEncodeIm2col* encode_im2col = nullptr;

  /// Fills all of them. The first one that `library` lacks; nullptr where it lacks none.
  const char* find(void* library);
};

/// A file of the bundle, loaded.
struct CudaModule {
  std::uint32_t file = 0;
  void* module = nullptr;
};

/// A kernel that this GPU does not run.
struct LeftOut {
  const ManifestKernel* kernel;
  char why_not[160];  ///< the end of a sentence
};

/// The context of one bundle.
struct Cuda {
  Cuda() = default;
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  CudaFunctions driver;
  void* context = nullptr;  ///< nullptr: there is none, and `why_not` says why
  int device = 0;
  bool retained = false;  ///< it is the device's primary one, and released when the bundle is closed
  int version = 0;        ///< 13000 of CUDA 13.0: what the driver serves
  int capability = 0;     ///< 90
  int multiprocessors = 0;
  Array<CudaModule> modules;
  Array<LeftOut> left_out;
  char why_not[sizeof LeftOut::why_not] = "";  ///< what say() has said last

  /// Why a kernel does not run here; "" where it does.
  const char* why_not_of(const ManifestKernel& kernel) const;

  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...);
  /// The driver's name for a code, "an unknown error" for what it does not know.
  const char* name_of(CudaCode code) const;
};

/// Makes a bundle's context current while it lives, if another one is or none.
class CurrentCuda {
 public:
  explicit CurrentCuda(const Cuda& cuda);
  ~CurrentCuda();
  CurrentCuda(const CurrentCuda&) = delete;
  CurrentCuda& operator=(const CurrentCuda&) = delete;
  CudaCode code = 0;  ///< what the driver said to it

 private:
  const Cuda& cuda_;
  bool pushed_ = false;
};

}  // namespace lehr::runtime
