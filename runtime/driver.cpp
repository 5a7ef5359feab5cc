// Opens the system's driver and a context of a GPU, and decides which code runs on the GPU.
#include "runtime/driver.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>

namespace lehr::runtime {

const char* CudaFunctions::find(void* library) {
  const char* missing = nullptr;
  const auto find = [&]<typename Signature>(Signature*& function, const char* name) {
    function = reinterpret_cast<Signature*>(dlsym(library, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
  find(init, "cuInit");
  find(driver_version, "cuDriverGetVersion");
  find(error_name, "cuGetErrorName");
  find(device_get, "cuDeviceGet");
  find(device_attribute, "cuDeviceGetAttribute");
  find(context_retain, "cuDevicePrimaryCtxRetain");
  find(context_release, "cuDevicePrimaryCtxRelease_v2");
  find(context_current, "cuCtxGetCurrent");
  find(context_device, "cuCtxGetDevice");
  find(context_push, "cuCtxPushCurrent_v2");
  find(context_pop, "cuCtxPopCurrent_v2");
  find(module_load, "cuModuleLoadData");
  find(module_unload, "cuModuleUnload");
  find(module_function, "cuModuleGetFunction");
  find(function_attribute, "cuFuncGetAttribute");
  find(set_function_attribute, "cuFuncSetAttribute");
  find(allocate, "cuMemAlloc_v2");
  find(free, "cuMemFree_v2");
  find(fill, "cuMemsetD8_v2");
  find(wait, "cuStreamSynchronize");
  find(launch, "cuLaunchKernelEx");
  find(active_clusters, "cuOccupancyMaxActiveClusters");
  find(encode_tiled, "cuTensorMapEncodeTiled");
  find(encode_im2col, "cuTensorMapEncodeIm2col");
  return missing;
}

void CudaGpu::say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(why_not, sizeof why_not, format, arguments);
  va_end(arguments);
}

const char* CudaGpu::name_of(CudaCode code) const {
  const char* name = nullptr;
  return driver.error_name(code, &name) == 0 && name != nullptr ? name : "an unknown error";
}

bool load_driver(CudaGpu& gpu) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return gpu.say("the CUDA driver (libcuda.so.1), which is not installed"), false;
  if (const char* missing = gpu.driver.find(library))
    return gpu.say("a CUDA driver of 525 or newer: this one has no %s", missing), false;
  if (const CudaCode code = gpu.driver.init(0); code != 0)
    return gpu.say("a CUDA driver that starts: this one says %s", gpu.name_of(code)), false;
  return true;
}

CudaCode find_context(CudaGpu& gpu, int ordinal) {
  void* current = nullptr;
  CudaCode code = gpu.driver.context_current(&current);
  if (code == 0 && current != nullptr) {
    code = gpu.driver.context_device(&gpu.device);
    if (code == 0) gpu.context = current;
  } else if (code == 0) {
    code = gpu.driver.device_get(&gpu.device, ordinal);
    if (code == 0) code = gpu.driver.context_retain(&gpu.context, gpu.device);
    gpu.retained = code == 0;
    if (code != 0) gpu.context = nullptr;
  }
  if (code != 0) gpu.say("CUDA device %d: the driver says %s", ordinal, gpu.name_of(code));
  return code;
}

bool ask_device(CudaGpu& gpu) {
  int major = 0, minor = 0;
  const auto ask = [&](CudaAttribute attribute, int& value) {
    return gpu.driver.device_attribute(&value, static_cast<int>(attribute), gpu.device) == 0;
  };
  if (gpu.driver.driver_version(&gpu.version) == 0 && ask(CudaAttribute::kCapabilityMajor, major) &&
      ask(CudaAttribute::kCapabilityMinor, minor) &&
      ask(CudaAttribute::kMultiprocessors, gpu.multiprocessors)) {
    gpu.capability = 10 * major + minor;
    return true;
  }
  return gpu.say("a CUDA device that says what it is"), false;
}

void release_context(CudaGpu& gpu) {
  if (gpu.retained) gpu.driver.context_release(gpu.device);
  gpu.retained = false;
}

CurrentCuda::CurrentCuda(const CudaGpu& gpu) : gpu_(gpu) {
  void* now = nullptr;
  code = gpu.driver.context_current(&now);
  if (code != 0 || now == gpu.context) return;
  code = gpu.driver.context_push(gpu.context);
  pushed_ = code == 0;
}

CurrentCuda::~CurrentCuda() {
  void* popped = nullptr;
  if (pushed_) gpu_.driver.context_pop(&popped);
}

// A driver loads machine code from compilers of its own or an older major version of CUDA. A device runs code
// for its own major version of the architecture, if the code's minor version is not above its own. Code for a
// specific architecture ("sm_90a") runs only on that one (CUDA C++ Programming Guide 13.0, "Binary
// Compatibility", "Architecture-Specific Features").
bool may_run_cubin(CudaGpu& gpu, const CudaNeeds& needs) {
  const bool fits = needs.this_arch_alone ? gpu.capability == needs.arch_number
                                          : gpu.capability / 10 == needs.arch_number / 10 &&
                                                gpu.capability >= needs.arch_number;
  if (!fits)
    return gpu.say("%s, and this GPU is sm_%d: tune on one like it", needs.arch, gpu.capability), false;
  if (gpu.version / 1000 >= needs.compiler / 1000) return true;
  return gpu.say("a driver of CUDA %d, and this one is of %d.%d", needs.compiler / 1000, gpu.version / 1000,
                 gpu.version % 1000 / 10),
         false;
}

// PTX for an older architecture runs on all newer ones, if the driver, which compiles the PTX, is not older
// than the compiler that wrote it.
bool may_run_ptx(const CudaGpu& gpu, const CudaNeeds& needs) {
  return gpu.capability >= needs.arch_number && gpu.version >= needs.compiler;
}

CudaCode load_module(CudaGpu& gpu, const void* image, void*& module) {
  // Codes of enum CUresult: the code is not for this device, or is newer than the driver.
  constexpr CudaCode kNoBinaryForGpu = 209, kUnsupportedPtxVersion = 222;
  const CudaCode code = gpu.driver.module_load(&module, image);
  if (code == 0) return 0;
  module = nullptr;
  if (code != kNoBinaryForGpu && code != kUnsupportedPtxVersion) return code;
  gpu.say("another GPU or driver: this one says %s", gpu.name_of(code));
  return 0;
}

namespace {

bool holds_clusters(const CudaGpu& gpu, const CudaNeeds& needs, void* function) {
  CudaLaunchAttribute cluster;
  cluster.id = kCudaClusterDimension;
  cluster.cluster = {needs.cluster, 1, 1};
  CudaLaunchConfig config;
  config.grid = needs.grid;
  config.block = needs.block;
  config.shared_bytes = needs.shared_bytes;
  config.attributes = &cluster;
  config.attribute_count = 1;
  int clusters = 0;
  return gpu.driver.active_clusters(&clusters, function, &config) == 0 && clusters > 0;
}

}  // namespace

bool prepare(CudaGpu& gpu, const CudaNeeds& needs, void* function) {
  const auto ask = [&](CudaFunctionAttribute attribute) {
    int value = 0;
    return gpu.driver.function_attribute(&value, static_cast<int>(attribute), function) == 0 ? value : -1;
  };
  const unsigned threads = needs.block[0] * needs.block[1] * needs.block[2];
  const int most = ask(CudaFunctionAttribute::kMaxThreadsPerBlock),
            fixed = ask(CudaFunctionAttribute::kStaticSharedBytes);
  if (most < 0 || fixed < 0 || threads > static_cast<unsigned>(most))
    return gpu.say("blocks of %u threads, and this GPU allows it %d", threads, most), false;
  if (fixed + static_cast<std::int64_t>(needs.shared_bytes) > kCudaDefaultSharedBytes &&
      gpu.driver.set_function_attribute(function,
                                        static_cast<int>(CudaFunctionAttribute::kMaxDynamicSharedBytes),
                                        static_cast<int>(needs.shared_bytes)) != 0)
    return gpu.say("%u bytes of shared memory for each block", needs.shared_bytes), false;
  if (needs.cluster == 1 || holds_clusters(gpu, needs, function)) return true;
  return gpu.say("clusters of %u blocks, which this GPU or its part cannot hold", needs.cluster), false;
}

}  // namespace lehr::runtime
