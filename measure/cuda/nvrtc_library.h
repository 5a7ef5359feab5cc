// Chooses one of the machine's NVRTCs: a driver loads code of its own major version of CUDA and of older
// ones.
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

/// Returns the libraries that the loader finds itself, in `directories` and in /usr/local/cuda/lib64: the
/// first of each major version, newest first. Loads all of them.
std::vector<NvrtcLibrary> installed_nvrtcs(const std::vector<std::string>& directories);

struct NvrtcChoice {
  SharedLibrary library;  ///< without a handle if none fits
  std::string reason;     ///< in that case a sentence: what was found, why it does not fit, what to install
};
/// Returns the newest NVRTC whose major version is not above that of `driver`; without a driver (kernels are
/// compiled but not run) the newest. Loads no other one.
NvrtcChoice choose_nvrtc(const std::vector<std::string>& directories, std::optional<CudaVersion> driver);

/// Loads libnvrtc-builtins.so of the library's own folder: NVRTC looks for it by the bare name when it
/// compiles. A library from choose_nvrtc() has it already.
void load_builtins_of(const SharedLibrary& library);

/// Returns "install ...": an NVRTC that `driver` serves, or any if there is no driver.
std::string nvrtc_install_hint(std::optional<CudaVersion> driver);

}  // namespace lehr
