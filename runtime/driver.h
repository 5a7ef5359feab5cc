// The CUDA driver, one of its contexts, and the GPU of that. The driver is a library of the system that is
// found by the loader's own search, as every program finds it, and only where there are kernels for it.
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

  /// Fills all of them. The first one that `library` lacks; nullptr where it lacks none.
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
  bool retained = false;  ///< it is the device's primary one, to be released
  int version = 0;        ///< 13000 of CUDA 13.0: what the driver serves
  int capability = 0;     ///< 90
  int multiprocessors = 0;
  char why_not[160] = "";  ///< what say() has said last: the end of a sentence, behind "needs"

  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...);
  /// The driver's name for a code, "an unknown error" for what it does not know.
  const char* name_of(CudaCode code) const;
};

/// Loads the driver, which stays in the process: its threads and what the host does with it outlive what is
/// loaded here. False: say() has said what is needed.
bool load_driver(CudaGpu& gpu);
/// Takes the calling thread's context, else retains the primary one of the device. What the driver refused.
CudaCode find_context(CudaGpu& gpu, int ordinal);
/// Asks what driver and device are. False: say() has said that they do not tell.
bool ask_device(CudaGpu& gpu);
/// Releases a context that was retained. What belongs to it is gone by then.
void release_context(CudaGpu& gpu);

/// Makes a context current while it lives, if another one is or none.
class CurrentCuda {
 public:
  explicit CurrentCuda(const CudaGpu& gpu);
  ~CurrentCuda();
  CurrentCuda(const CurrentCuda&) = delete;
  CurrentCuda& operator=(const CurrentCuda&) = delete;
  CudaCode code = 0;  ///< what the driver said to it

 private:
  const CudaGpu& gpu_;
  bool pushed_ = false;
};

/// A kernel's needs of a driver and a GPU.
struct CudaNeeds {
  const char* arch = "";           ///< "sm_90a"
  int arch_number = 0;             ///< 90
  bool this_arch_alone = false;    ///< "sm_90a": no other minor version runs it
  int compiler = 0;                ///< 1000 major + 10 minor, as drivers tell theirs
  std::array<unsigned, 3> grid{};  ///< in blocks
  std::array<unsigned, 3> block{};
  unsigned cluster = 1;  ///< blocks along x
  unsigned shared_bytes = 0;
};

/// Whether machine code for `needs.arch` runs there. False: say() has said why not.
bool may_run_cubin(CudaGpu& gpu, const CudaNeeds& needs);
/// Whether PTX for it does.
bool may_run_ptx(const CudaGpu& gpu, const CudaNeeds& needs);
/// Loads machine code, or text that ends in a 0. `module` is nullptr with 0 where it is for another GPU or
/// driver, which say() has said then; else what the driver refused.
CudaCode load_module(CudaGpu& gpu, const void* image, void*& module);
/// Lets a function be launched so. False where this GPU has no room for it, which say() has said.
bool prepare(CudaGpu& gpu, const CudaNeeds& needs, void* function);

}  // namespace lehr::runtime
