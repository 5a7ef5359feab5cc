// The CUDA driver, one of its contexts, and that context's GPU. The driver is a library of the system. It is
// found by the loader's own search, as every program finds it, and only if there are kernels for it.
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
  CudaCode (*wait)(void*) = nullptr;  ///< for a stream
  CudaLaunchKernelEx* launch = nullptr;
  CudaOccupancyMaxActiveClusters* active_clusters = nullptr;
  CudaEncodeTiled* encode_tiled = nullptr;
  CudaEncodeIm2col* encode_im2col = nullptr;

  /// Fills in all of them. Returns the first one that `library` lacks; nullptr if it lacks none.
  const char* find(void* library);
};

/// A context of a GPU.
struct CudaGpu {
  CudaGpu() = default;
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;

  CudaFunctions driver;
  void* context = nullptr;  ///< nullptr: not found, and `why_not` says why
  int device = 0;
  bool retained = false;  ///< whether it is the device's primary one, to be released
  int version = 0;        ///< version of CUDA that the driver serves, 13000 for 13.0
  int capability = 0;     ///< 90
  int multiprocessors = 0;
  char why_not[160] = "";  ///< say()'s last text: the end of a sentence, after "needs"

  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...);
  /// Returns the driver's name for a code; "an unknown error" for one that it does not know.
  const char* name_of(CudaCode code) const;
};

/// Loads the driver, which stays in the process: its threads, and the host's use of it, outlive this library.
/// Returns false after say() has reported what is needed.
bool load_driver(CudaGpu& gpu);
/// Takes the calling thread's context, else retains the device's primary one. Returns the driver's code.
CudaCode find_context(CudaGpu& gpu, int ordinal);
/// Queries the driver and the device. Returns false after say() if they do not answer.
bool ask_device(CudaGpu& gpu);
/// Releases a context that was retained. Everything that belongs to it must be released before.
void release_context(CudaGpu& gpu);

/// Makes a context current while this object lives, unless it already is.
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
  const char* arch = "";           ///< "sm_90a"
  int arch_number = 0;             ///< 90
  bool this_arch_alone = false;    ///< "sm_90a": no other minor version runs it
  int compiler = 0;                ///< 1000 major + 10 minor, as drivers report theirs
  std::array<unsigned, 3> grid{};  ///< in blocks
  std::array<unsigned, 3> block{};
  unsigned cluster = 1;  ///< number of blocks along x
  unsigned shared_bytes = 0;
};

/// Whether machine code for `needs.arch` runs there. If false, say() has reported why.
bool may_run_cubin(CudaGpu& gpu, const CudaNeeds& needs);
/// Whether PTX for it runs there.
bool may_run_ptx(const CudaGpu& gpu, const CudaNeeds& needs);
/// Loads machine code, or text that ends in a 0. If it is for another GPU or driver, returns 0 with `module`
/// nullptr, and say() has reported why; else returns the driver's code.
CudaCode load_module(CudaGpu& gpu, const void* image, void*& module);
/// Prepares a function for such launches. Returns false if this GPU has no room for it, which say() has
/// reported.
bool prepare(CudaGpu& gpu, const CudaNeeds& needs, void* function);

}  // namespace lehr::runtime
