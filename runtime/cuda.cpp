// From cubins and PTX to functions of a context.
#include "runtime/cuda.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"
#include "runtime/sha256.h"

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
  find(copy_async, "cuMemcpyDtoDAsync_v2");
  find(fill_async, "cuMemsetD8Async");
  find(launch, "cuLaunchKernelEx");
  find(active_clusters, "cuOccupancyMaxActiveClusters");
  find(encode_tiled, "cuTensorMapEncodeTiled");
  find(encode_im2col, "cuTensorMapEncodeIm2col");
  return missing;
}

Cuda::~Cuda() {
  if (context == nullptr) return;
  {
    const CurrentCuda current(*this);
    for (const CudaModule& module : modules) driver.module_unload(module.module);
  }
  if (retained) driver.context_release(device);
}

void Cuda::say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(why_not, sizeof why_not, format, arguments);
  va_end(arguments);
}

const char* Cuda::why_not_of(const ManifestKernel& kernel) const {
  for (const LeftOut& one : left_out)
    if (one.kernel == &kernel) return one.why_not;
  return context == nullptr ? why_not : "";
}

const char* Cuda::name_of(CudaCode code) const {
  const char* name = nullptr;
  return driver.error_name(code, &name) == 0 && name != nullptr ? name : "an unknown error";
}

CurrentCuda::CurrentCuda(const Cuda& cuda) : cuda_(cuda) {
  void* now = nullptr;
  code = cuda.driver.context_current(&now);
  if (code != 0 || now == cuda.context) return;
  code = cuda.driver.context_push(cuda.context);
  pushed_ = code == 0;
}

CurrentCuda::~CurrentCuda() {
  void* popped = nullptr;
  if (pushed_) cuda_.driver.context_pop(&popped);
}

namespace {

// Of enum CUresult: this code is not for this device, or newer than the driver.
constexpr CudaCode kNoBinaryForGpu = 209, kUnsupportedPtxVersion = 222;

// The driver stays in the process: its threads and what the host does with it outlive a bundle.
bool load_driver(Cuda& cuda) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return cuda.say("the CUDA driver (libcuda.so.1), which is not installed"), false;
  if (const char* missing = cuda.driver.find(library))
    return cuda.say("a CUDA driver of 525 or newer: this one has no %s", missing), false;
  if (const CudaCode code = cuda.driver.init(0); code != 0)
    return cuda.say("a CUDA driver that starts: this one says %s", cuda.name_of(code)), false;
  return true;
}

// The calling thread's context, else the primary one of the device that was asked for.
bool find_context(Cuda& cuda, int ordinal) {
  void* current = nullptr;
  CudaCode code = cuda.driver.context_current(&current);
  if (code == 0 && current != nullptr) {
    code = cuda.driver.context_device(&cuda.device);
    if (code == 0) cuda.context = current;
  } else if (code == 0) {
    code = cuda.driver.device_get(&cuda.device, ordinal);
    if (code == 0) code = cuda.driver.context_retain(&cuda.context, cuda.device);
    cuda.retained = code == 0;
    if (code != 0) cuda.context = nullptr;
  }
  if (code != 0) cuda.say("CUDA device %d: the driver says %s", ordinal, cuda.name_of(code));
  return code == 0;
}

bool ask_device(Cuda& cuda) {
  int major = 0, minor = 0;
  const auto ask = [&](CudaAttribute attribute, int& value) {
    return cuda.driver.device_attribute(&value, static_cast<int>(attribute), cuda.device) == 0;
  };
  if (cuda.driver.driver_version(&cuda.version) == 0 && ask(CudaAttribute::kCapabilityMajor, major) &&
      ask(CudaAttribute::kCapabilityMinor, minor) &&
      ask(CudaAttribute::kMultiprocessors, cuda.multiprocessors)) {
    cuda.capability = 10 * major + minor;
    return true;
  }
  return cuda.say("a CUDA device that says what it is"), false;
}

// A driver loads the machine code of its own major version of CUDA and of older ones; a device runs that of
// its own major version with a minor one that is not above its own, and what is for one alone nowhere else
// (CUDA C++ Programming Guide 13.0, "Binary Compatibility", "Architecture-Specific Features").
bool may_run_cubin(Cuda& cuda, const ManifestKernel& kernel, const ManifestLaunch& launch) {
  const int arch = static_cast<int>(launch.arch);
  const bool fits = launch.this_arch_alone ? cuda.capability == arch
                                           : cuda.capability / 10 == arch / 10 && cuda.capability >= arch;
  if (!fits) return cuda.say("%s, and this GPU is sm_%d", kernel.arch.data(), cuda.capability), false;
  if (cuda.version / 1000 >= static_cast<int>(launch.compiler / 1000)) return true;
  return cuda.say("a driver of CUDA %u, and this one is of %d.%d", launch.compiler / 1000,
                  cuda.version / 1000, cuda.version % 1000 / 10),
         false;
}

// PTX of an older architecture runs on all newer ones, compiled by a driver that is not older than the
// compiler that wrote it.
bool may_run_ptx(const Cuda& cuda, const ManifestLaunch& launch) {
  return launch.ptx != kNoIndex && cuda.capability >= static_cast<int>(launch.arch) &&
         cuda.version >= static_cast<int>(launch.compiler);
}

/// Where the bytes of files come from.
struct Images {
  ImageOf image_of;
  void* context;
};

// Its module; nullptr with LEHR_OK where this GPU does not run it.
lehr_status module_of(Bundle& bundle, std::uint32_t file, const Images& images, void*& module,
                      lehr_error* error) {
  Cuda& cuda = *bundle.cuda;
  for (const CudaModule& known : cuda.modules)
    if (known.file == file) return module = known.module, LEHR_OK;
  Array<char> image;
  const ManifestFile& listed = bundle.manifest.files[file];
  if (const lehr_status status = images.image_of(images.context, listed, image, error); status != LEHR_OK)
    return status;
  if (!image.add('\0') || !cuda.modules.resize(cuda.modules.size() + 1))
    return fail(error, LEHR_NO_MEMORY, "there is no memory for %s", listed.path.data());
  const CudaCode code = cuda.driver.module_load(&module, image.data());
  if (code == 0) {
    cuda.modules[cuda.modules.size() - 1] = {file, module};
    return LEHR_OK;
  }
  module = nullptr;
  cuda.modules.shrink();
  if (code != kNoBinaryForGpu && code != kUnsupportedPtxVersion)
    return fail(error, LEHR_DRIVER_ERROR, "the CUDA driver does not load %s: %s", listed.path.data(),
                cuda.name_of(code));
  cuda.say("another GPU or driver: this one says %s", cuda.name_of(code));
  return LEHR_OK;
}

// Lets the function be launched as the manifest says. False where this GPU has no room for it.
bool prepare(Cuda& cuda, const ManifestLaunch& launch, void* function) {
  const auto ask = [&](CudaFunctionAttribute attribute) {
    int value = 0;
    return cuda.driver.function_attribute(&value, static_cast<int>(attribute), function) == 0 ? value : -1;
  };
  const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
  const int most = ask(CudaFunctionAttribute::kMaxThreadsPerBlock),
            fixed = ask(CudaFunctionAttribute::kStaticSharedBytes);
  if (most < 0 || fixed < 0 || threads > static_cast<unsigned>(most))
    return cuda.say("blocks of %u threads, and this GPU allows it %d", threads, most), false;
  if (fixed + static_cast<std::int64_t>(launch.shared_bytes) > kCudaDefaultSharedBytes &&
      cuda.driver.set_function_attribute(function,
                                         static_cast<int>(CudaFunctionAttribute::kMaxDynamicSharedBytes),
                                         static_cast<int>(launch.shared_bytes)) != 0)
    return cuda.say("%u bytes of shared memory for each block", launch.shared_bytes), false;
  if (launch.cluster == 1) return true;
  CudaLaunchAttribute cluster;
  cluster.id = kCudaClusterDimension;
  cluster.cluster = {launch.cluster, 1, 1};
  CudaLaunchConfig config;
  config.grid = launch.grid;
  config.block = launch.block;
  config.shared_bytes = launch.shared_bytes;
  config.attributes = &cluster;
  config.attribute_count = 1;
  int clusters = 0;
  if (cuda.driver.active_clusters(&clusters, function, &config) == 0 && clusters > 0) return true;
  return cuda.say("clusters of %u blocks, which this GPU or its part cannot hold", launch.cluster), false;
}

// Where this GPU does not run it, `kernel` stays without a function.
lehr_status load_one(Bundle& bundle, const ManifestKernel& manifest, const Images& images,
                     LoadedKernel& kernel, lehr_error* error) {
  Cuda& cuda = *bundle.cuda;
  const ManifestLaunch& launch = bundle.manifest.launches[manifest.launch];
  void* module = nullptr;
  lehr_status status = LEHR_OK;
  if (may_run_cubin(cuda, manifest, launch)) status = module_of(bundle, manifest.file, images, module, error);
  if (status == LEHR_OK && module == nullptr && may_run_ptx(cuda, launch)) {
    status = module_of(bundle, launch.ptx, images, module, error);
    kernel.from_ptx = true;
  }
  if (status != LEHR_OK || module == nullptr) return status;
  void* function = nullptr;
  if (const CudaCode code = cuda.driver.module_function(&function, module, manifest.name.data()); code != 0)
    return fail(error, LEHR_BAD_BUNDLE, "%s has no function named %s: the CUDA driver says %s",
                bundle.manifest.files[manifest.file].path.data(), manifest.name.data(), cuda.name_of(code));
  if (!prepare(cuda, launch, function)) return LEHR_OK;
  kernel.function = function;
  kernel.launch = &launch;
  kernel.cuda = &cuda;
  kernel.maps = bundle.manifest.maps.data();
  kernel.other_device = kernel.from_ptx || static_cast<int>(launch.arch) != cuda.capability ||
                        static_cast<int>(launch.multiprocessors) != cuda.multiprocessors;
  return LEHR_OK;
}

}  // namespace

lehr_status load_cuda_kernels(Bundle& bundle, ImageOf image_of, void* context, lehr_error* error) {
  if (bundle.manifest.launches.size() == 0) return LEHR_OK;
  bundle.cuda = Owner<Cuda>::make();
  if (!bundle.cuda) return fail(error, LEHR_NO_MEMORY, "there is no memory for the kernels");
  Cuda& cuda = *bundle.cuda;
  if (image_of == nullptr || !load_driver(cuda) || !find_context(cuda, bundle.cuda_device) ||
      !ask_device(cuda))
    return LEHR_OK;
  const CurrentCuda current(cuda);
  if (current.code != 0)
    return fail(error, LEHR_DRIVER_ERROR, "the CUDA driver does not make its context current: %s",
                cuda.name_of(current.code));
  for (const ManifestKernel& manifest : bundle.manifest.kernels) {
    if (!manifest.on_cuda()) continue;
    LoadedKernel kernel;
    kernel.manifest = &manifest;
    kernel.params = &bundle.manifest.params[manifest.first_param];
    if (const lehr_status status = load_one(bundle, manifest, {image_of, context}, kernel, error);
        status != LEHR_OK)
      return status;
    bool added;
    if (kernel.function != nullptr) {
      added = bundle.kernels.add(kernel);
    } else {
      LeftOut left_out{&manifest, {}};
      std::memcpy(left_out.why_not, cuda.why_not, sizeof left_out.why_not);
      added = cuda.left_out.add(left_out);
    }
    if (!added) return fail(error, LEHR_NO_MEMORY, "there is no memory for the kernels");
  }
  return LEHR_OK;
}

}  // namespace lehr::runtime
