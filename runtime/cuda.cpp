// From cubins and PTX to functions of a context.
#include "runtime/cuda.h"

#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"
#include "runtime/sha256.h"

namespace lehr::runtime {

Cuda::~Cuda() {
  if (context == nullptr) return;
  {
    const CurrentCuda current(*this);
    for (const CudaModule& module : modules) driver.module_unload(module.module);
  }
  release_context(*this);
}

const char* Cuda::why_not_of(const ManifestKernel& kernel) const {
  for (const LeftOut& one : left_out)
    if (one.kernel == &kernel) return one.why_not;
  return context == nullptr ? why_not : "";
}

namespace {

CudaNeeds needs_of(const ManifestKernel& kernel, const ManifestLaunch& launch) {
  CudaNeeds needs;
  needs.arch = kernel.arch.data();
  needs.arch_number = static_cast<int>(launch.arch);
  needs.this_arch_alone = launch.this_arch_alone;
  needs.compiler = static_cast<int>(launch.compiler);
  needs.grid = launch.grid;
  needs.block = launch.block;
  needs.cluster = launch.cluster;
  needs.shared_bytes = launch.shared_bytes;
  return needs;
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
  if (const CudaCode code = load_module(cuda, image.data(), module); code != 0) {
    cuda.modules.shrink();
    return fail(error, LEHR_DRIVER_ERROR, "the CUDA driver does not load %s: %s", listed.path.data(),
                cuda.name_of(code));
  }
  if (module == nullptr) {
    cuda.modules.shrink();
  } else {
    cuda.modules[cuda.modules.size() - 1] = {file, module};
  }
  return LEHR_OK;
}

// Where this GPU does not run it, `kernel` stays without a function.
lehr_status load_one(Bundle& bundle, const ManifestKernel& manifest, const Images& images,
                     LoadedKernel& kernel, lehr_error* error) {
  Cuda& cuda = *bundle.cuda;
  const ManifestLaunch& launch = bundle.manifest.launches[manifest.launch];
  const CudaNeeds needs = needs_of(manifest, launch);
  void* module = nullptr;
  lehr_status status = LEHR_OK;
  if (may_run_cubin(cuda, needs)) status = module_of(bundle, manifest.file, images, module, error);
  if (status == LEHR_OK && module == nullptr && launch.ptx != kNoIndex && may_run_ptx(cuda, needs)) {
    status = module_of(bundle, launch.ptx, images, module, error);
    kernel.from_ptx = true;
  }
  if (status != LEHR_OK || module == nullptr) return status;
  void* function = nullptr;
  if (const CudaCode code = cuda.driver.module_function(&function, module, manifest.name.data()); code != 0)
    return fail(error, LEHR_BAD_BUNDLE, "%s has no function named %s: the CUDA driver says %s",
                bundle.manifest.files[manifest.file].path.data(), manifest.name.data(), cuda.name_of(code));
  if (!prepare(cuda, needs, function)) return LEHR_OK;
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
  if (image_of == nullptr || !load_driver(cuda) || find_context(cuda, bundle.cuda_device) != 0 ||
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
