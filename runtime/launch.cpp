// Puts the parts of an answer on a stream of the caller's. Nothing is allocated, locked or waited for.
#include <cstddef>

#include "runtime/bundle.h"
#include "runtime/cuda.h"
#include "runtime/message.h"

namespace lehr::runtime {
namespace {

/// One launch: a part's kernel for some slices, and where it stands among those of the call.
struct Launching {
  const LoadedKernel& kernel;
  void* params[Manifest::kMostParams];
  bool programmatic;          ///< may overlap the launch before it on the stream
  const CudaTensorMap* maps;  ///< in the order of its params; nullptr: none are made yet
};

CudaCode encode(const LoadedKernel& kernel, void* const* params, CudaTensorMap* maps) {
  const CudaFunctions& driver = kernel.cuda->driver;
  for (std::uint32_t i = 0; i < kernel.manifest->params; ++i) {
    if (kernel.params[i].map == kNoIndex) continue;
    const CudaCode code = cuda_encode(driver.encode_tiled, driver.encode_im2col,
                                      kernel.maps[kernel.params[i].map], params[i], *maps++);
    if (code != 0) return code;
  }
  return 0;
}

CudaCode launch(const Launching& one, void* stream) {
  const LoadedKernel& kernel = one.kernel;
  CudaTensorMap made[Manifest::kMostParams];
  const CudaTensorMap* map = one.maps;
  if (map == nullptr && kernel.manifest->maps > 0) {
    if (const CudaCode code = encode(kernel, one.params, made); code != 0) return code;
    map = made;
  }
  void* arguments[Manifest::kMostParams];
  for (std::uint32_t i = 0; i < kernel.manifest->params; ++i) {
    const bool mapped = kernel.params[i].map != kNoIndex;
    arguments[i] = mapped ? static_cast<void*>(const_cast<CudaTensorMap*>(map++))
                          : static_cast<void*>(const_cast<void**>(&one.params[i]));
  }
  CudaLaunchAttribute programmatic;
  programmatic.id = kCudaProgrammaticStreamSerialization;
  programmatic.allowed = 1;
  CudaLaunchConfig config;
  config.grid = kernel.launch->grid;
  config.block = kernel.launch->block;
  config.shared_bytes = kernel.launch->shared_bytes;
  config.stream = stream;
  config.attributes = &programmatic;
  config.attribute_count = one.programmatic && kernel.launch->programmatic ? 1 : 0;
  return kernel.cuda->driver.launch(&config, kernel.function, arguments, nullptr);
}

CudaAddress address(const void* pointer) {
  return reinterpret_cast<CudaAddress>(pointer);
}

// Between the caller's tensors and copies of them that have as many slices as the kernel computes: what
// goes in before the launch, zeros behind it, and what comes out behind it.
CudaCode copy_padded(const Part& part, void* const* whole, void* const* padded, std::uint32_t role,
                     void* stream) {
  const LoadedKernel& kernel = *part.kernel;
  const CudaFunctions& driver = kernel.cuda->driver;
  for (std::uint32_t i = 0; i < kernel.manifest->tensors(); ++i) {
    const std::uint64_t slice = kernel.params[i].slice_bytes, used = part.used * slice;
    if (slice == 0 || kernel.params[i].role != role) continue;
    const bool in = role == LEHR_IN;
    CudaCode code = driver.copy_async(address(in ? padded[i] : whole[i]), address(in ? whole[i] : padded[i]),
                                      used, stream);
    if (code == 0 && in)
      code = driver.fill_async(address(padded[i]) + used, 0, (kernel.manifest->slices - part.used) * slice,
                               stream);
    if (code != 0) return code;
  }
  return 0;
}

/// Calls `each(launching, part, whole params)` for every launch of a call, in order, until one says no.
template <typename Each>
CudaCode each_launch(const Answer& answer, void* const* params, Each each) {
  for (const Part& part : answer.parts) {
    const LoadedKernel& kernel = *part.kernel;
    const ManifestKernel& manifest = *kernel.manifest;
    for (std::uint64_t repeat = 0; repeat < part.repeats; ++repeat) {
      const std::uint64_t first = part.first + repeat * manifest.slices;
      Launching one{kernel, {}, true, nullptr};
      void* whole[Manifest::kMostParams];
      for (std::uint32_t i = 0; i < manifest.tensors(); ++i)
        one.params[i] = whole[i] = static_cast<char*>(params[i]) + first * kernel.params[i].slice_bytes;
      for (std::uint32_t i = 0; i < manifest.workspaces; ++i)
        one.params[manifest.tensors() + i] = params[part.first_workspace + i];
      if (part.is_padded()) {
        one.programmatic = false;  // it would overlap the copies
        auto* copy = static_cast<char*>(params[answer.padding]);
        for (std::uint32_t i = 0; i < manifest.tensors(); ++i) {
          if (kernel.params[i].slice_bytes == 0) continue;
          one.params[i] = copy;
          copy += (manifest.slices * kernel.params[i].slice_bytes + 63) / 64 * 64;
        }
      }
      if (const CudaCode code = each(one, part, whole); code != 0) return code;
    }
  }
  return 0;
}

std::uint64_t map_bytes(const Answer& answer) {
  std::uint64_t maps = 0;
  for (const Part& part : answer.parts) maps += part.repeats * part.kernel->manifest->maps;
  return maps * sizeof(CudaTensorMap);
}

lehr_status check_maps(const Answer& answer, const lehr_launch_call& call, lehr_error* error) {
  const std::uint64_t needed = map_bytes(answer);
  if (call.tensor_map_bytes < needed)
    return fail(error, LEHR_BAD_ARGUMENT, "%llu bytes for tensor maps are too few: the kernel needs %llu",
                static_cast<unsigned long long>(call.tensor_map_bytes),
                static_cast<unsigned long long>(needed));
  if (reinterpret_cast<std::uintptr_t>(call.tensor_maps) % alignof(CudaTensorMap) != 0)
    return fail(error, LEHR_BAD_ARGUMENT, "the tensor maps are not aligned to 64 bytes");
  return LEHR_OK;
}

// What is wrong with a call, or LEHR_OK. `workspaces`: they are looked at, too. A call of an older program is
// in `room` then.
lehr_status check(const Answer* answer, const lehr_launch_call*& call, lehr_launch_call& room,
                  bool workspaces, lehr_error* error) {
  constexpr std::size_t kFirst = offsetof(lehr_launch_call, tensor_map_bytes) + sizeof call->tensor_map_bytes;
  if (answer == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the kernel is not one of an open bundle");
  if (call == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the call is a null pointer");
  if (const lehr_status status = take_in_place(call, kFirst, "lehr_launch_call", room, error);
      status != LEHR_OK)
    return status;
  if (!answer->parts[0].kernel->manifest->on_cuda())
    return fail(error, LEHR_BAD_ARGUMENT, "the kernel is for %s: lehr_run runs it",
                answer->parts[0].kernel->manifest->target.data());
  std::uint64_t needed = 0;
  for (std::uint32_t i = 0; i < answer->params.size(); ++i)
    if (workspaces || answer->params[i].role != LEHR_WORKSPACE) needed |= std::uint64_t{1} << i;
  const CheckedCall checked{call->params, call->param_count, needed, false, 0};
  if (const lehr_status status = check_params(*answer, checked, error); status != LEHR_OK) return status;
  return call->tensor_maps == nullptr ? LEHR_OK : check_maps(*answer, *call, error);
}

lehr_status refused(const Cuda& cuda, CudaCode code, const char* what, lehr_error* error) {
  return fail(error, LEHR_DRIVER_ERROR, "the CUDA driver does not %s: %s", what, cuda.name_of(code));
}

}  // namespace
}  // namespace lehr::runtime

using namespace lehr::runtime;
using lehr::CudaCode;
using lehr::CudaTensorMap;

lehr_status lehr_launch(lehr_kernel kernel, const lehr_launch_call* call, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  lehr_launch_call room;
  if (const lehr_status status = check(answer, call, room, true, error); status != LEHR_OK) return status;
  const Cuda& cuda = *answer->parts[0].kernel->cuda;
  const CurrentCuda current(cuda);
  if (current.code != 0) return refused(cuda, current.code, "make its context current", error);
  const auto* maps = static_cast<const CudaTensorMap*>(call->tensor_maps);
  const CudaCode code =
      each_launch(*answer, call->params, [&](Launching& one, const Part& part, void* const* whole) {
        if (maps != nullptr) {
          one.maps = maps;
          maps += part.kernel->manifest->maps;
        }
        if (!part.is_padded()) return launch(one, call->stream);
        CudaCode done = copy_padded(part, whole, one.params, LEHR_IN, call->stream);
        if (done == 0) done = launch(one, call->stream);
        return done == 0 ? copy_padded(part, whole, one.params, LEHR_OUT, call->stream) : done;
      });
  return code == 0 ? succeed(error) : refused(cuda, code, "launch the kernel", error);
}

lehr_status lehr_tensor_map_bytes(lehr_kernel kernel, uint64_t* bytes, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  if (answer == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the kernel is not one of an open bundle");
  if (bytes == nullptr)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_tensor_map_bytes needs a place for the number");
  *bytes = map_bytes(*answer);
  return succeed(error);
}

// The padding of a bucket is a workspace, whose address is in maps; others are not.
lehr_status lehr_encode(lehr_kernel kernel, const lehr_launch_call* call, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  const bool padded = answer != nullptr && answer->padding != kNoIndex;
  lehr_launch_call room;
  if (const lehr_status status = check(answer, call, room, padded, error); status != LEHR_OK) return status;
  if (map_bytes(*answer) == 0) return succeed(error);
  if (call->tensor_maps == nullptr)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_encode needs memory for the tensor maps");
  auto* maps = static_cast<CudaTensorMap*>(call->tensor_maps);
  const CudaCode code =
      each_launch(*answer, call->params, [&](Launching& one, const Part& part, void* const*) {
        const CudaCode made = encode(one.kernel, one.params, maps);
        maps += part.kernel->manifest->maps;
        return made;
      });
  return code == 0 ? succeed(error)
                   : refused(*answer->parts[0].kernel->cuda, code, "make a tensor map", error);
}
