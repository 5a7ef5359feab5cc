// The GPU's part of a context: for each function a loaded kernel with its own workspaces, and the launch of
// kernels.
#include <cstdlib>
#include <cstring>

#include "runtime/context.h"
#include "runtime/driver.h"

namespace lehr::runtime {

/// The tensor map of the last call, and the tensor's address in it; nullptr: no map was made yet.
struct KeptMap {
  CudaTensorMap map;
  void* address;
};

/// A function's kernel on this GPU.
struct ReadyKernel {
  const CudaKernel* kernel = nullptr;  ///< nullptr: no kernel runs on this GPU
  void* function = nullptr;
  bool from_ptx = false;
  std::size_t first_map = 0;  ///< position in CudaPart::maps
  CudaAddress workspaces = 0;
  char why_not[sizeof CudaGpu::why_not] = "";  ///< why there is no kernel
};

/// A loaded image.
struct LoadedImage {
  std::uint32_t index = 0;  ///< position in Table::images
  void* module = nullptr;
};

struct CudaPart {
  CudaPart() = default;
  ~CudaPart();
  CudaPart(const CudaPart&) = delete;
  CudaPart& operator=(const CudaPart&) = delete;

  CudaGpu gpu;
  Array<ReadyKernel> functions;  ///< in the order of the library's table
  Array<LoadedImage> images;
  CudaAddress memory = 0;   ///< workspaces of all kernels
  KeptMap* maps = nullptr;  ///< tensor maps of all kernels, aligned for the driver
};

CudaPart::~CudaPart() {
  std::free(maps);
  if (gpu.context == nullptr) return;
  {
    const CurrentCuda current(gpu);
    if (memory != 0) gpu.driver.free(memory);
    for (const LoadedImage& image : images) gpu.driver.module_unload(image.module);
  }
  release_context(gpu);
}

void end_cuda(CudaPart* part) {
  Owner<CudaPart> owner;
  owner.reset(part);
}

namespace {

CudaNeeds needs_of(const CudaKernel& kernel) {
  CudaNeeds needs;
  needs.arch = kernel.arch;
  needs.arch_number = static_cast<int>(kernel.arch_number);
  needs.this_arch_alone = kernel.this_arch_alone;
  needs.compiler = static_cast<int>(kernel.compiler);
  needs.grid = kernel.grid;
  needs.block = kernel.block;
  needs.cluster = kernel.cluster;
  needs.shared_bytes = kernel.shared_bytes;
  return needs;
}

const ReadyKernel& ready_of(const CudaPart& part, const Function& function) {
  return part.functions[static_cast<std::size_t>(&function - library_table().functions)];
}

kernels_status driver_refused(kernels_context* context, CudaCode code, const char* what) {
  return fail(context, KERNELS_DRIVER_ERROR, "the CUDA driver does not %s: %s", what,
              context->cuda->gpu.name_of(code));
}

kernels_status no_cuda_memory(kernels_context* context) {
  return fail(context, KERNELS_NO_MEMORY, "there is no memory for the kernels");
}

// Loads an image as a module, unless it is loaded already. If this GPU cannot run the image, sets `module` to
// nullptr and returns KERNELS_OK.
kernels_status image_of(kernels_context* context, std::uint32_t index, const char* kernel, void*& module) {
  CudaPart& part = *context->cuda;
  for (const LoadedImage& known : part.images)
    if (known.index == index) return module = known.module, KERNELS_OK;
  if (!part.images.add({index, nullptr})) return no_cuda_memory(context);
  const CudaCode code = load_module(part.gpu, library_table().images[index].bytes, module);
  part.images[part.images.size() - 1].module = module;
  if (module == nullptr) part.images.shrink();
  if (code == 0) return KERNELS_OK;
  return fail(context, KERNELS_DRIVER_ERROR, "the CUDA driver does not load %s: %s", kernel,
              part.gpu.name_of(code));
}

// Loads a kernel. If this GPU cannot run it, `ready` has no kernel, and CudaGpu::why_not has the reason.
kernels_status load_cuda_kernel(kernels_context* context, const CudaKernel& kernel, bool ptx,
                                ReadyKernel& ready) {
  CudaGpu& gpu = context->cuda->gpu;
  const CudaNeeds needs = needs_of(kernel);
  void *module = nullptr, *function = nullptr;
  kernels_status status = KERNELS_OK;
  bool from_ptx = false;
  if (may_run_cubin(gpu, needs)) status = image_of(context, kernel.cubin, kernel.name, module);
  if (status == KERNELS_OK && module == nullptr && ptx && kernel.ptx != kNoImage && may_run_ptx(gpu, needs)) {
    status = image_of(context, kernel.ptx, kernel.name, module);
    from_ptx = true;
  }
  if (status != KERNELS_OK || module == nullptr) return status;
  if (const CudaCode code = gpu.driver.module_function(&function, module, kernel.name); code != 0)
    return fail(context, KERNELS_DRIVER_ERROR, "the CUDA driver does not find %s in its image: %s",
                kernel.name, gpu.name_of(code));
  if (!prepare(gpu, needs, function)) return KERNELS_OK;
  ready.kernel = &kernel;
  ready.function = function;
  ready.from_ptx = from_ptx;
  return KERNELS_OK;
}

bool tuned_on(const CudaKernel& kernel, const CudaGpu& gpu) {
  return static_cast<int>(kernel.arch_number) == gpu.capability &&
         static_cast<int>(kernel.multiprocessors) == gpu.multiprocessors;
}

// Returns the fastest kernel that `takes` accepts and that is slower than `last`. If `last` is nullptr,
// returns the fastest of all. Returns nullptr after the slowest kernel.
template <typename Takes>
const CudaKernel* next_slower(const Function& function, const CudaKernel* last, Takes takes) {
  const CudaKernel* best = nullptr;
  for (std::uint32_t i = 0; i < function.variant_count; ++i) {
    const CudaKernel& one = function.cuda[i];
    const bool behind =
        last == nullptr || one.time_us > last->time_us || (one.time_us == last->time_us && &one > last);
    if (behind && takes(one) && (best == nullptr || one.time_us < best->time_us)) best = &one;
  }
  return best;
}

// Chooses the function's kernel: the fastest one that was tuned on this kind of GPU and whose machine code
// runs, else the fastest one that runs at all. If no kernel runs, keeps the first reason.
kernels_status choose_cuda_kernel(kernels_context* context, const Function& function, ReadyKernel& ready) {
  CudaGpu& gpu = context->cuda->gpu;
  for (const bool here : {true, false}) {
    const auto takes = [&](const CudaKernel& kernel) { return !here || tuned_on(kernel, gpu); };
    const CudaKernel* kernel = nullptr;
    while (ready.kernel == nullptr && (kernel = next_slower(function, kernel, takes)) != nullptr) {
      if (const kernels_status status = load_cuda_kernel(context, *kernel, !here, ready);
          status != KERNELS_OK)
        return status;
      if (ready.kernel == nullptr && ready.why_not[0] == '\0')
        std::memcpy(ready.why_not, gpu.why_not, sizeof ready.why_not);
    }
  }
  if (ready.kernel != nullptr) ready.why_not[0] = '\0';
  return KERNELS_OK;
}

// Chooses a kernel for each function. If no function has a kernel, returns KERNELS_NO_KERNEL, with the reason
// of the first function.
kernels_status choose_cuda_kernels(kernels_context* context) {
  const Table& table = library_table();
  Array<ReadyKernel>& functions = context->cuda->functions;
  if (!functions.resize(table.function_count)) return no_cuda_memory(context);
  const Function* first = nullptr;
  bool any = false;
  for (std::uint32_t i = 0; i < table.function_count; ++i) {
    const Function& function = table.functions[i];
    if (function.shown.target != KERNELS_CUDA) continue;
    if (first == nullptr) first = &function;
    if (const kernels_status status = choose_cuda_kernel(context, function, functions[i]);
        status != KERNELS_OK)
      return status;
    any = any || functions[i].kernel != nullptr;
  }
  if (any) return KERNELS_OK;
  if (first == nullptr) return fail(context, KERNELS_NO_KERNEL, "the library has no kernels for CUDA");
  return fail_without_kernel(context, *first);
}

std::uint64_t workspace_room(std::uint64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

// Allocates one zeroed piece of memory for all workspaces. The driver fills it on the default stream, and may
// return before it is filled. This function waits for that, since the context's stream may not wait for the
// default stream.
kernels_status take_workspaces(kernels_context* context) {
  CudaPart& part = *context->cuda;
  std::uint64_t bytes = 0;
  for (ReadyKernel& ready : part.functions) {
    if (ready.kernel == nullptr) continue;
    ready.workspaces = bytes;
    for (std::uint32_t i = 0; i < ready.kernel->workspace_count; ++i)
      bytes += workspace_room(ready.kernel->workspaces[i]);
  }
  if (bytes == 0) return KERNELS_OK;
  const CudaFunctions& driver = part.gpu.driver;
  if (const CudaCode code = driver.allocate(&part.memory, bytes); code != 0) {
    part.memory = 0;
    return fail(context, KERNELS_DRIVER_ERROR, "the CUDA driver does not give %llu bytes for workspaces: %s",
                static_cast<unsigned long long>(bytes), part.gpu.name_of(code));
  }
  CudaCode code = driver.fill(part.memory, 0, bytes);
  if (code == 0) code = driver.wait(nullptr);
  if (code != 0) return driver_refused(context, code, "zero the workspaces");
  for (ReadyKernel& ready : part.functions) ready.workspaces += part.memory;
  return KERNELS_OK;
}

kernels_status make_room_for_maps(kernels_context* context) {
  CudaPart& part = *context->cuda;
  const Table& table = library_table();
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < table.function_count; ++i) {
    ReadyKernel& ready = part.functions[i];
    ready.first_map = count;
    if (ready.kernel == nullptr || ready.kernel->maps == nullptr) continue;
    for (std::uint32_t t = 0; t < table.functions[i].shown.tensor_count; ++t)
      if (ready.kernel->maps[t] != nullptr) ++count;
  }
  if (count == 0) return KERNELS_OK;
  part.maps = static_cast<KeptMap*>(std::aligned_alloc(alignof(KeptMap), count * sizeof(KeptMap)));
  if (part.maps == nullptr) return no_cuda_memory(context);
  for (std::size_t i = 0; i < count; ++i) part.maps[i] = {};
  return KERNELS_OK;
}

// Makes the tensor map for an address, unless the last call had the same address.
CudaCode keep_map(const CudaFunctions& driver, const CudaTensorMapArguments& map, void* address,
                  KeptMap& kept) {
  if (kept.address == address) return 0;
  kept.address = nullptr;
  const CudaCode code = cuda_encode(driver.encode_tiled, driver.encode_im2col, map, address, kept.map);
  if (code == 0) kept.address = address;
  return code;
}

CudaCode put_on_stream(const CudaPart& part, const ReadyKernel& ready, void* stream, void** params) {
  CudaLaunchAttribute programmatic;
  programmatic.id = kCudaProgrammaticStreamSerialization;
  programmatic.allowed = 1;
  CudaLaunchConfig config;
  config.grid = ready.kernel->grid;
  config.block = ready.kernel->block;
  config.shared_bytes = ready.kernel->shared_bytes;
  config.stream = stream;
  config.attributes = &programmatic;
  config.attribute_count = ready.kernel->programmatic ? 1 : 0;
  return part.gpu.driver.launch(&config, ready.function, params, nullptr);
}

}  // namespace

kernels_status open_cuda(kernels_context* context, int device) {
  context->cuda = Owner<CudaPart>::make().release();
  if (context->cuda == nullptr) return no_cuda_memory(context);
  CudaGpu& gpu = context->cuda->gpu;
  kernels_status missing = load_driver(gpu) ? KERNELS_OK : KERNELS_NO_KERNEL;
  if (missing == KERNELS_OK && find_context(gpu, device) != 0) missing = KERNELS_DRIVER_ERROR;
  if (missing == KERNELS_OK && !ask_device(gpu)) missing = KERNELS_NO_KERNEL;
  if (missing != KERNELS_OK)
    return fail(context, missing, "the library's kernels for CUDA need %s", gpu.why_not);
  const CurrentCuda current(gpu);
  if (current.code != 0) return driver_refused(context, current.code, "make its context current");
  kernels_status status = choose_cuda_kernels(context);
  if (status == KERNELS_OK) status = make_room_for_maps(context);
  return status == KERNELS_OK ? take_workspaces(context) : status;
}

kernels_status launch(kernels_context* context, const Function& function, void* const* arguments) {
  const CudaPart& part = *context->cuda;
  const ReadyKernel& ready = ready_of(part, function);
  if (ready.kernel == nullptr) return fail_without_kernel(context, function);
  const CurrentCuda current(part.gpu);
  if (current.code != 0) return driver_refused(context, current.code, "make its context current");
  void* values[kMostParams];
  void* params[kMostParams];
  std::uint32_t count = 0;
  KeptMap* kept = part.maps + ready.first_map;
  for (; count < function.shown.tensor_count; ++count) {
    values[count] = arguments[count];
    params[count] = &values[count];
    const CudaTensorMapArguments* map = ready.kernel->maps == nullptr ? nullptr : ready.kernel->maps[count];
    if (map == nullptr) continue;
    if (const CudaCode code = keep_map(part.gpu.driver, *map, arguments[count], *kept); code != 0)
      return driver_refused(context, code, "make a tensor map");
    params[count] = &kept++->map;
  }
  CudaAddress workspace = ready.workspaces;
  for (std::uint32_t i = 0; i < ready.kernel->workspace_count; ++i, ++count) {
    values[count] = reinterpret_cast<void*>(workspace);
    params[count] = &values[count];
    workspace += workspace_room(ready.kernel->workspaces[i]);
  }
  const CudaCode code = put_on_stream(part, ready, context->stream, params);
  return code == 0 ? KERNELS_OK : driver_refused(context, code, "launch the kernel");
}

const CudaKernel* cuda_kernel_of(const kernels_context* context, const Function& function) {
  return ready_of(*context->cuda, function).kernel;
}

const char* why_not_on_gpu(const kernels_context* context, const Function& function) {
  return ready_of(*context->cuda, function).why_not;
}

void fill_cuda_variant(const kernels_context* context, const Function& function, kernels_variant* variant) {
  const CudaPart& part = *context->cuda;
  const ReadyKernel& ready = ready_of(part, function);
  const CudaKernel& kernel = *ready.kernel;
  variant->kernel = kernel.name;
  variant->device = kernel.device;
  variant->arch = kernel.arch;
  variant->cold = kernel.cold ? 1 : 0;
  variant->time_us = kernel.time_us;
  variant->max_error = kernel.max_error;
  variant->other_device = !ready.from_ptx && tuned_on(kernel, part.gpu) ? 0 : 1;
  variant->from_ptx = ready.from_ptx ? 1 : 0;
}

}  // namespace lehr::runtime
