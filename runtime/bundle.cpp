// Handles, and the kernels of a manifest as functions.
#include "runtime/bundle.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "runtime/hash.h"
#include "runtime/message.h"
#include "runtime/words.h"

namespace lehr::runtime {
namespace {

// A handle is a slot's number, the generation of who is in it, and the number of an answer from 1 (0: the
// bundle).
constexpr unsigned kAnswerBits = 24, kGenerationBits = 30;
constexpr std::uint64_t kAnswerMask = (1ull << kAnswerBits) - 1,
                        kGenerationMask = (1ull << kGenerationBits) - 1;
constexpr std::size_t kSlots = 1u << (64 - kAnswerBits - kGenerationBits);

std::atomic<Bundle*> slots[kSlots];
std::uint64_t last_generation = 0;
Lock registering;

Bundle* in_slot(std::uint64_t handle) {
  Bundle* const bundle = slots[handle >> (kAnswerBits + kGenerationBits)].load(std::memory_order_acquire);
  const std::uint64_t generation = handle >> kAnswerBits & kGenerationMask;
  return bundle != nullptr && bundle->generation == generation ? bundle : nullptr;
}

bool runs_here(const ManifestKernel& kernel, CpuFeatures features) {
  return !kernel.on_cuda() && kernel.machine == cpu_machine() && kernel.unknown_feature.empty() &&
         (kernel.features & ~features) == 0;
}

lehr_status nothing_runs(const Bundle& bundle, const char* where, lehr_error* error) {
  if (bundle.manifest.kernels.size() == 0) return fail(error, LEHR_BAD_BUNDLE, "%s has no kernels", where);
  const ManifestKernel* one = bundle.manifest.kernels.begin();
  while (one != bundle.manifest.kernels.end() && runs_here(*one, bundle.features)) ++one;
  if (one == bundle.manifest.kernels.end())
    return fail(error, LEHR_BAD_BUNDLE,
                "%s has kernels that are told their number of rows, and no set of them", where);
  if (one->on_cuda())
    return fail(error, LEHR_WRONG_DEVICE, "no kernel of %s runs here: they need %s", where,
                bundle.cuda->why_not_of(*one));
  const std::string_view missing = what_is_missing(*one, bundle.features);
  return fail(error, LEHR_WRONG_DEVICE,
              "no kernel of %s runs here: that for '%s' needs %.*s, which is not there", where,
              one->workload.data(), static_cast<int>(missing.size()), missing.data());
}

// Pointers into it must stay: the array gets its size before they are taken.
bool reserve_steps(Bundle& bundle) {
  std::size_t steps = 0;
  for (const ManifestKernel& kernel : bundle.manifest.kernels) steps += kernel.steps;
  return bundle.steps.resize(steps);
}

lehr_status load_kernel(Bundle& bundle, const ManifestKernel& manifest, EntryNamed entry_named, void* context,
                        lehr_error* error) {
  LoadedKernel kernel;
  kernel.manifest = &manifest;
  kernel.params = &bundle.manifest.params[manifest.first_param];
  kernel.steps = &bundle.steps[manifest.first_step];
  for (std::uint32_t i = 0; i < manifest.steps; ++i) {
    const ManifestStep& step = bundle.manifest.steps[manifest.first_step + i];
    Step& loaded = bundle.steps[manifest.first_step + i];
    loaded = {entry_named(context, manifest, step.entry, error), static_cast<long>(step.tasks)};
    if (loaded.entry == nullptr) return LEHR_BAD_BUNDLE;
  }
  if (!manifest.prepack.entry.empty()) {
    kernel.prepack = {entry_named(context, manifest, manifest.prepack.entry, error),
                      static_cast<long>(manifest.prepack.tasks)};
    if (kernel.prepack.entry == nullptr) return LEHR_BAD_BUNDLE;
  }
  return bundle.kernels.add(kernel) ? LEHR_OK
                                    : fail(error, LEHR_NO_MEMORY, "there is no memory for the kernels");
}

// The kernels and the sets as they are are the first answers.
bool add_exact_answers(Bundle& bundle) {
  lehr_status status = LEHR_OK;
  for (std::size_t i = 0; i < bundle.listed(); ++i) {
    const std::size_t fixed = bundle.fixed_kernels;
    Owner<Answer> answer =
        i < fixed ? answer_of_kernel(bundle.kernels[i]) : answer_of_set(bundle, bundle.sets[i - fixed], 0);
    if (!answer || bundle.add(std::move(answer), status) == Bundle::kNone) return false;
  }
  return true;
}

// Those that are told their number of rows, or the others.
lehr_status load_cpu_kernels(Bundle& bundle, bool told_rows, EntryNamed entry_named, void* context,
                             lehr_error* error) {
  for (const ManifestKernel& kernel : bundle.manifest.kernels) {
    if (!runs_here(kernel, bundle.features) || (kernel.rows > 0) != told_rows) continue;
    if (const lehr_status status = load_kernel(bundle, kernel, entry_named, context, error);
        status != LEHR_OK)
      return status;
  }
  return LEHR_OK;
}

}  // namespace

Owner<Answer> answer_of_kernel(const LoadedKernel& kernel) {
  Owner<Answer> answer = Owner<Answer>::make();
  const std::uint32_t tensors = kernel.manifest->tensors();
  if (!answer || !answer->parts.add({&kernel, 0, 1, kernel.manifest->slices, tensors})) return {};
  for (std::uint32_t i = 0; i < kernel.manifest->params; ++i)
    if (!answer->params.add(kernel.params[i])) return {};
  if (kernel.other_device) answer->kind = LEHR_OTHER_DEVICE;
  answer->workload = kernel.manifest->workload.data();
  answer->time_us = kernel.manifest->time_us;
  answer->scratch_bytes = (kernel.manifest->scratch_bytes + 63) / 64 * 64;
  return answer;
}

std::string_view what_is_missing(const ManifestKernel& kernel, CpuFeatures features) {
  if (kernel.machine != cpu_machine()) return kernel.machine;
  for (std::size_t i = 0; i < cpu_feature_count(); ++i)
    if (kernel.features & ~features & (CpuFeatures{1} << i)) return cpu_feature(i).name;
  return kernel.unknown_feature;
}

Bundle::~Bundle() {
  for (std::size_t i = 0; i < answer_count; ++i) {
    Owner<Answer> ended;
    ended.reset(blocks[i / kBlock].load()[i % kBlock]);
  }
  for (const auto& block : blocks) std::free(block);
  for (void* library : libraries) dlclose(library);
}

const Answer* Bundle::answer(std::size_t index) const {
  if (index >= kBlocks * kBlock) return nullptr;
  const std::atomic<Answer*>* const block = blocks[index / kBlock].load(std::memory_order_acquire);
  return block == nullptr ? nullptr : block[index % kBlock].load(std::memory_order_acquire);
}

namespace {

Asked question_of(const Answer& answer) {
  return {answer.workload, answer.asked_threads, answer.asked_target};
}

}  // namespace

// The place of an answer to it, or the free one where it belongs; there is a free one.
std::size_t Bundle::place_of(const Asked& asked, const Array<std::uint32_t>& among) const {
  std::size_t place =
      Hash().add(asked.workload).add(asked.threads).add(asked.target).value() & (among.size() - 1);
  for (; among[place] != 0; place = (place + 1) & (among.size() - 1)) {
    const Asked known = question_of(*answer(among[place]));
    if (known.threads == asked.threads && known.target == asked.target && known.workload == asked.workload)
      break;
  }
  return place;
}

// Half of the places stay free.
bool Bundle::make_room() {
  if (2 * (answer_count - listed() + 1) <= places.size()) return true;
  Array<std::uint32_t> grown;
  if (!grown.resize(places.size() == 0 ? 64 : 2 * places.size())) return false;
  for (const std::uint32_t index : places)
    if (index != 0) grown[place_of(question_of(*answer(index)), grown)] = index;
  places = std::move(grown);
  return true;
}

std::size_t Bundle::known(const Asked& asked) {
  const Locked lock(adding);
  const std::uint32_t index = places.size() == 0 ? 0 : places[place_of(asked, places)];
  return index == 0 ? kNone : index;
}

std::size_t Bundle::add(Owner<Answer> answer, lehr_status& status) {
  const Locked lock(adding);
  const std::size_t index = answer_count;
  const bool put_together = index >= listed();
  status = LEHR_TOO_MANY_SHAPES;
  if (index == listed() + LEHR_MOST_SHAPES) return kNone;
  status = LEHR_NO_MEMORY;
  if (put_together && !make_room()) return kNone;
  const std::size_t place = put_together ? place_of(question_of(*answer), places) : 0;
  if (put_together && places[place] != 0) return places[place];
  std::atomic<std::atomic<Answer*>*>& block = blocks[index / kBlock];
  if (block == nullptr)
    block.store(static_cast<std::atomic<Answer*>*>(std::calloc(kBlock, sizeof(std::atomic<Answer*>))),
                std::memory_order_release);
  if (block == nullptr) return kNone;
  block.load()[index % kBlock].store(answer.release(), std::memory_order_release);
  answer_count = index + 1;
  if (put_together) places[place] = static_cast<std::uint32_t>(index);
  return index;
}

Bundle* bundle_of(lehr_bundle handle) {
  return (handle & kAnswerMask) == 0 ? in_slot(handle) : nullptr;
}

Bundle* bundle_of_kernel(lehr_kernel handle) {
  return in_slot(handle);
}

const Answer* answer_of(lehr_kernel handle) {
  const std::uint64_t number = handle & kAnswerMask;
  const Bundle* const bundle = in_slot(handle);
  return bundle == nullptr || number == 0 ? nullptr : bundle->answer(number - 1);
}

lehr_kernel kernel_handle(lehr_bundle bundle, std::size_t answer) {
  return bundle | (answer + 1);
}

lehr_bundle register_bundle(Owner<Bundle> bundle) {
  const Locked lock(registering);
  for (std::size_t slot = 1; slot < kSlots; ++slot) {
    if (slots[slot].load(std::memory_order_relaxed) != nullptr) continue;
    last_generation = (last_generation + 1) & kGenerationMask;
    bundle->generation = last_generation;
    const lehr_bundle handle = std::uint64_t{slot} << (kAnswerBits + kGenerationBits) | last_generation
                                                                                            << kAnswerBits;
    slots[slot].store(bundle.release(), std::memory_order_release);
    return handle;
  }
  return 0;
}

bool unregister_bundle(lehr_bundle handle) {
  Owner<Bundle> ended;  // goes without the lock
  const Locked lock(registering);
  Bundle* const bundle = bundle_of(handle);
  if (bundle == nullptr) return false;
  slots[handle >> (kAnswerBits + kGenerationBits)].store(nullptr, std::memory_order_release);
  ended.reset(bundle);
  return true;
}

namespace {

// Of what the processor has, what the options let kernels use.
lehr_status features_allowed(const lehr_open_options& options, CpuFeatures& features, lehr_error* error) {
  features = cpu_features_here();
  if (options.features == nullptr) return LEHR_OK;
  CpuFeatures allowed = 0;
  Words words(options.features);
  for (std::string_view word; words.next(word);) {
    const CpuFeatures bit = cpu_feature_named(word);
    if (bit == 0)
      return fail(error, LEHR_BAD_ARGUMENT, "'%.*s' is no processor feature that this library knows",
                  static_cast<int>(word.size()), word.data());
    allowed |= bit;
  }
  features &= allowed;
  return LEHR_OK;
}

}  // namespace

lehr_status begin_opening(const lehr_open_options* given, const char* where, Owner<Bundle>& bundle,
                          lehr_open_options& options, lehr_error* error) {
  bundle = Owner<Bundle>::make();
  if (!bundle) return fail(error, LEHR_NO_MEMORY, "there is no memory for %s", where);
  if (const lehr_status status =
          take(given, offsetof(lehr_open_options, self_test), "lehr_open_options", options, error);
      status != LEHR_OK)
    return status;
  bundle->cuda_device = options.cuda_device;
  return features_allowed(options, bundle->features, error);
}

lehr_status load_kernels(Bundle& bundle, const char* where, EntryNamed entry_named, void* context,
                         lehr_error* error, ImageOf image_of) {
  if (!reserve_steps(bundle))
    return fail(error, LEHR_NO_MEMORY, "there is no memory for the kernels of %s", where);
  if (const lehr_status status = load_cpu_kernels(bundle, false, entry_named, context, error);
      status != LEHR_OK)
    return status;
  if (const lehr_status status = load_cuda_kernels(bundle, image_of, context, error); status != LEHR_OK)
    return status;
  bundle.fixed_kernels = bundle.kernels.size();
  if (const lehr_status status = load_cpu_kernels(bundle, true, entry_named, context, error);
      status != LEHR_OK)
    return status;
  const bool has_sets = load_sets(bundle);
  if (has_sets && bundle.listed() == 0) return nothing_runs(bundle, where, error);
  if (!has_sets || !add_exact_answers(bundle))
    return fail(error, LEHR_NO_MEMORY, "there is no memory for the kernels of %s", where);
  return LEHR_OK;
}

lehr_status finish_opening(Owner<Bundle> bundle, const lehr_open_options& options, lehr_bundle* handle,
                           lehr_error* error) {
  if (options.self_test != 0)
    for (const LoadedKernel& kernel : bundle->kernels)
      if (const lehr_status status = self_test(*bundle, kernel, error); status != LEHR_OK) return status;
  *handle = register_bundle(std::move(bundle));
  return *handle != 0 ? succeed(error) : fail(error, LEHR_NO_MEMORY, "too many bundles are open");
}

}  // namespace lehr::runtime
