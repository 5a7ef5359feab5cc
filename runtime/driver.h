// The CUDA driver, one of its contexts, and the GPU of this context. The driver is a library of the system,
// which the loader finds by its usual search. It is loaded only if the library has kernels for GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/cuda_api.h"

namespace lehr::runtime {

/// Functions of libcuda.so.1; prototypes from the CUDA Driver API 13.0 manual.
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
  CudaCode (*allocate)(CudaAddress*, std::size_t) = nullptr;
  CudaCode (*free)(CudaAddress) = nullptr;
  CudaCode (*fill)(CudaAddress, unsigned char, std::size_t) = nullptr;
  CudaCode (*wait)(void*) = nullptr;  ///< waits for a stream
  CudaLaunchKernelEx* launch = nullptr;
  CudaOccupancyMaxActiveClusters* active_clusters = nullptr;
  CudaEncodeTiled* encode_tiled = nullptr;
  CudaEncodeIm2col* encode_im2col = nullptr;

  /// Fills in all functions from `library`. Returns the name of the first function that the library lacks;
  /// nullptr if it has all.
  const char* find(void* library);
};

/// A context of a GPU.
struct CudaGpu {
  CudaGpu() = default;
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;

  CudaFunctions driver;
  void* context = nullptr;  ///< nullptr: no context was found, and `why_not` explains why
  int device = 0;
  bool retained = false;  ///< whether `context` is the device's primary context, which must be released
  int version = 0;        ///< version of CUDA that the driver supports, 13000 for 13.0
  int capability = 0;     ///< 90
  int multiprocessors = 0;
  char why_not[160] = "";  ///< last text of say(): the end of a sentence after "needs"

  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...);
  /// Returns the driver's name for a code; "an unknown error" for one that it does not know.
  const char* name_of(CudaCode code) const;
};

/// Loads the driver. It is never unloaded, since its threads, and other users of it in the process, may
/// outlive this library. On failure, calls say() and returns false.
bool load_driver(CudaGpu& gpu);
/// Uses the calling thread's current context. Without a current context, retains the primary context of
/// device `ordinal`. Returns the driver's code.
CudaCode find_context(CudaGpu& gpu, int ordinal);
/// Queries the driver and the device. If they do not answer, calls say() and returns false.
bool ask_device(CudaGpu& gpu);
/// Releases a context that was retained. Everything that belongs to it must be released before.
void release_context(CudaGpu& gpu);

/// Makes a context current while this object lives, unless the context already is current.
class CurrentCuda {
 public:
  explicit CurrentCuda(const CudaGpu& gpu);
  ~CurrentCuda();
  CurrentCuda(const CurrentCuda&) = delete;
  CurrentCuda& operator=(const CurrentCuda&) = delete;
  CudaCode code = 0;  ///< the driver's code

 private:
  const CudaGpu& gpu_;
  bool pushed_ = false;
};

/// A kernel's requirements on a driver and a GPU.
struct CudaNeeds {
  const char* arch = "";         ///< "sm_90a"
  int arch_number = 0;           ///< 90
  bool this_arch_alone = false;  ///< whether no other architecture runs it, as with "sm_90a"
  int compiler = 0;              ///< version of the compiler: 1000 major + 10 minor, as drivers report theirs
  std::array<unsigned, 3> grid{};  ///< size of the grid in blocks
  std::array<unsigned, 3> block{};
  unsigned cluster = 1;  ///< number of blocks along x
  unsigned shared_bytes = 0;
};

/// Whether machine code for `needs.arch` runs on the GPU. If not, calls say() with the reason.
bool may_run_cubin(CudaGpu& gpu, const CudaNeeds& needs);
/// Whether PTX for `needs.arch` runs on the GPU.
bool may_run_ptx(const CudaGpu& gpu, const CudaNeeds& needs);
/// Loads machine code, or PTX that ends in a 0, and returns the driver's code. If the image is for another
/// GPU or driver, sets `module` to nullptr, calls say() with the reason, and returns 0.
CudaCode load_module(CudaGpu& gpu, const void* image, void*& module);
/// Prepares a function for launches with these needs. If the GPU has too few resources for it, calls say()
/// and returns false.
bool prepare(CudaGpu& gpu, const CudaNeeds& needs, void* function);

}  // namespace lehr::runtime
