// What a caller asks of an open bundle and of its kernels.
#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"

namespace lehr::runtime {
namespace {

constexpr const char* kClosed = "the kernel is not one of an open bundle";

// As much as the caller's struct has room for; its size stays.
template <typename Info>
lehr_status give(const Info& info, Info* to, lehr_error* error) {
  const std::uint32_t room = to->size;
  if (room < sizeof info.size)
    return fail(error, LEHR_BAD_ARGUMENT, "the struct's size is %u: set it to sizeof", room);
  std::memcpy(to, &info, room < sizeof info ? room : sizeof info);
  to->size = room;
  return succeed(error);
}

}  // namespace
}  // namespace lehr::runtime

using namespace lehr::runtime;

uint32_t lehr_bundle_abi(void) {
  return LEHR_BUNDLE_ABI;
}

lehr_status lehr_count(lehr_bundle handle, uint32_t* count, lehr_error* error) {
  const Bundle* const bundle = bundle_of(handle);
  if (bundle == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the bundle is not open");
  if (count == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "lehr_count needs a place for the number");
  *count = static_cast<std::uint32_t>(bundle->listed());
  return succeed(error);
}

lehr_status lehr_at(lehr_bundle handle, uint32_t index, lehr_kernel* kernel, lehr_error* error) {
  const Bundle* const bundle = bundle_of(handle);
  if (bundle == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the bundle is not open");
  if (kernel == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "lehr_at needs a place for the handle");
  *kernel = 0;
  if (index >= bundle->listed())
    return fail(error, LEHR_BAD_ARGUMENT, "the bundle has no kernel %u: it has %zu", index, bundle->listed());
  *kernel = kernel_handle(handle, index);
  return succeed(error);
}

lehr_status lehr_info(lehr_kernel kernel, lehr_kernel_info* info, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  if (answer == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "%s", kClosed);
  if (info == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "lehr_info needs a struct to fill");
  const ManifestKernel& first = *answer->parts[0].kernel->manifest;
  lehr_kernel_info filled = {};
  filled.answer = answer->kind;
  filled.workload = answer->workload;
  filled.name = first.name.data();
  filled.target = first.target.data();
  filled.arch = first.arch.data();
  filled.threads = answer->threads();
  filled.params = static_cast<std::uint32_t>(answer->params.size());
  filled.time_us = answer->time_us;
  filled.wasted = answer->wasted;
  filled.cold = first.cold;
  filled.other_device = answer->parts[0].kernel->other_device;
  filled.from_ptx = answer->parts[0].kernel->from_ptx;
  for (const Part& part : answer->parts) {
    filled.parts += static_cast<std::uint32_t>(part.repeats);
    if (filled.max_error < part.kernel->manifest->max_error)
      filled.max_error = part.kernel->manifest->max_error;
  }
  if (answer->is_open()) {
    const ManifestSet& set = *answer->set->manifest;
    filled.least_rows = set.least;
    filled.most_rows = set.most;
    for (std::uint32_t i = 0; i < set.members; ++i)
      if (const ManifestKernel& member = *answer->set->members[i].kernel->manifest;
          filled.max_error < member.max_error)
        filled.max_error = member.max_error;
  }
  return give(filled, info, error);
}

lehr_status lehr_param(lehr_kernel kernel, uint32_t index, lehr_param_info* info, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  if (answer == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "%s", kClosed);
  if (info == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "lehr_param needs a struct to fill");
  if (index >= answer->params.size())
    return fail(error, LEHR_BAD_ARGUMENT, "the kernel has no parameter %u: it has %zu", index,
                answer->params.size());
  const ManifestParam& param = answer->params[index];
  lehr_param_info filled = {};
  filled.role = param.role;
  filled.name = param.name.data();
  filled.dtype = param.dtype.data();
  filled.bytes = param.bytes;
  filled.alignment = param.alignment;
  const ManifestKernel& prepacks = *answer->prepacks().manifest;
  const bool is_read = index < prepacks.params && (prepacks.prepack_reads >> index & 1) != 0;
  if (answer->is_open()) filled.row_bytes = param.slice_bytes;
  filled.constant = param.constant || is_read;
  filled.dimensions = param.dimensions;
  for (std::uint32_t i = 0; i < param.dimensions; ++i) {
    const ManifestDimension& one = bundle_of_kernel(kernel)->manifest.dimensions[param.first_dimension + i];
    filled.shape[i] = i == 0 && param.slice_bytes > 0 ? param.bytes / param.slice_bytes : one.size;
    filled.strides[i] = one.stride;
  }
  return give(filled, info, error);
}

lehr_status lehr_scratch_bytes(lehr_kernel kernel, uint32_t workers, uint64_t* bytes, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  if (answer == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "%s", kClosed);
  if (bytes == nullptr)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_scratch_bytes needs a place for the number");
  *bytes = answer->scratch_bytes * (workers > 1 ? workers : 1) + answer->padding_bytes;
  return succeed(error);
}
