// Chooses one of the machine's NVRTCs. A driver loads code of its own major version of CUDA and of older
// versions.
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

/// Returns the first library of each major version, the newest version first. It searches where the loader
/// searches, in `directories`, and in /usr/local/cuda/lib64. Loads all libraries that it returns.
std::vector<NvrtcLibrary> installed_nvrtcs(const std::vector<std::string>& directories);

struct NvrtcChoice {
  SharedLibrary library;  ///< without a handle if no library fits
  /// Set if no library fits: a sentence with what was found, why it does not fit, and what to install.
  std::string reason;
};
/// Returns the newest NVRTC whose major version is not above that of `driver`. Without a driver (kernels are
/// compiled but not run) it returns the newest NVRTC. Loads no other NVRTC.
NvrtcChoice choose_nvrtc(const std::vector<std::string>& directories, std::optional<CudaVersion> driver);

/// Loads libnvrtc-builtins.so from the library's own folder, because NVRTC opens it by its bare name when it
/// compiles. For a library returned by choose_nvrtc() it is loaded already.
void load_builtins_of(const SharedLibrary& library);

/// Returns "install ...", naming an NVRTC whose code `driver` loads, or any NVRTC if there is no driver.
std::string nvrtc_install_hint(std::optional<CudaVersion> driver);

}  // namespace lehr
