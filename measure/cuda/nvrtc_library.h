// Which of the machine's NVRTCs is loaded: a driver loads the code of its own major version of CUDA and of
// older ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/cuda/cuda_driver.h"
#include "measure/system/shared_library.h"

namespace lehr {

struct NvrtcLibrary {
  SharedLibrary library;
  CudaVersion version;
};

/// What is found by the loader itself, in `directories` and in /usr/local/cuda/lib64: of each major version
/// the first, newest first. Loads all of them.
std::vector<NvrtcLibrary> installed_nvrtcs(const std::vector<std::string>& directories);

struct NvrtcChoice {
  SharedLibrary library;  ///< no handle: none fits
  std::string reason;     ///< then a sentence: what was found, why it does not fit, what to install
};
/// The newest whose major version is not above that of `driver`; without a driver, where kernels are compiled
/// and not run, the newest. Loads no other one.
NvrtcChoice choose_nvrtc(const std::vector<std::string>& directories, std::optional<CudaVersion> driver);

/// NVRTC looks for libnvrtc-builtins.so of its own folder by the bare name when it compiles: loads it. What
/// choose_nvrtc() gives has it already.
void load_builtins_of(const SharedLibrary& library);

/// "install ...": an NVRTC that `driver` serves; any without one.
std::string nvrtc_install_hint(std::optional<CudaVersion> driver);

}  // namespace lehr
