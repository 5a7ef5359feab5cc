// Loads candidates with dlopen, then calls, checks and samples them.
#include "measure/host/host_runner.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.h"
#include "measure/core/sampling.h"
#include "measure/system/affinity.h"
#include "measure/system/memory_limit.h"

namespace lehr {
namespace {

Fault fault(FailureKind kind, std::string text) {
  return Fault{{kind, std::move(text), {}}, false};
}

}  // namespace

struct HostRunner::Loaded {
  void* library = nullptr;
  Entry entry = nullptr;
  long work_items = 1, steps = 1;
  Entry prepack = nullptr;  ///< packs constant inputs; nullptr: nothing is packed
  long prepack_work_items = 0;
  std::vector<GuardedBytes> scratch;            ///< one per thread
  std::vector<GuardedBytes> packs, workspaces;  ///< one per parameter after the tensors
  std::int64_t most_rows = 0;                   ///< Source::most_rows
  std::int64_t rows = 0;                        ///< rows of the next calls, if most_rows is not 0
  /// Addresses of the problem's tensors, of `packs`, of `workspaces`, and of `rows`.
  std::vector<void*> params;
  std::int64_t packed = -1;  ///< HostRunner::inputs_ when inputs were prepacked last

  Loaded() = default;
  ~Loaded() {
    if (library != nullptr) dlclose(library);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
};

HostRunner::HostRunner() : cpus_(allowed_cpus()) {}
HostRunner::~HostRunner() = default;

void HostRunner::prepare(const Problem& problem, const RunSettings& settings) {
  slots_.clear();
  buffers_.reset();
  ++inputs_;
  limit_memory(settings.memory_bytes);
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
    sweep_ = CacheSweep(settings.cold, *buffers_);
  } catch (const std::bad_alloc&) {
    throw_environment(
        "the problem's tensors do not fit into half of this machine's memory: choose a smaller problem");
  }
  const int threads = std::clamp(settings.threads, 1, static_cast<int>(cpus_.size()));
  if (threads_ == nullptr || threads_->count() != threads)
    threads_ = std::make_unique<PinnedThreads>(threads, cpus_);
}

std::variant<Resources, Fault> HostRunner::load(int slot, const Candidate& candidate) {
  auto loaded = std::make_unique<Loaded>();
  loaded->library = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded->library == nullptr) return fault(FailureKind::kLaunch, dlerror());
  loaded->entry = reinterpret_cast<Entry>(dlsym(loaded->library, candidate.entry.c_str()));
  loaded->work_items = candidate.launch.work_items;
  loaded->steps = candidate.launch.steps();
  if (loaded->entry == nullptr)
    return fault(FailureKind::kLaunch, fmt::format("has no function named {}", candidate.entry));
  if (candidate.launch.prepack_work_items > 0) {
    const std::string name = prepack_entry(candidate.entry);
    loaded->prepack = reinterpret_cast<Entry>(dlsym(loaded->library, name.c_str()));
    loaded->prepack_work_items = candidate.launch.prepack_work_items;
    if (loaded->prepack == nullptr)
      return fault(FailureKind::kLaunch, fmt::format("has no function named {}", name));
  }
  const std::size_t arguments = buffers_->problem().arguments.size();
  loaded->params.assign(buffers_->pointers(), buffers_->pointers() + arguments);
  std::int64_t asked = candidate.scratch_bytes;
  try {
    for (int thread = 0; thread < threads_->count(); ++thread) {
      loaded->scratch.emplace_back(
          static_cast<std::size_t>(std::max<std::int64_t>(candidate.scratch_bytes, 0)));
    }
    const auto add = [&](std::vector<GuardedBytes>& to, std::int64_t bytes) {
      asked += bytes;
      loaded->params.push_back(to.emplace_back(static_cast<std::size_t>(bytes)).data());
    };
    for (const std::int64_t bytes : candidate.prepacked_bytes) add(loaded->packs, bytes);
    for (const std::int64_t bytes : candidate.workspace_bytes) add(loaded->workspaces, bytes);
  } catch (const std::bad_alloc&) {
    return fault(
        FailureKind::kOutOfMemory,
        fmt::format("no memory for {} bytes: scratch on each of {} threads and parameters behind the tensors",
                    asked, threads_->count()));
  }
  loaded->most_rows = candidate.most_rows;
  loaded->rows = buffers_->problem().rows;
  if (loaded->most_rows < 0 || (loaded->most_rows > 0 && loaded->rows > loaded->most_rows))
    return fault(FailureKind::kLaunch,
                 fmt::format("takes {} rows at most, not {}", loaded->most_rows, loaded->rows));
  if (loaded->most_rows > 0) loaded->params.push_back(&loaded->rows);
  slots_[slot] = std::move(loaded);
  packed(slot);
  return Resources{};
}

void HostRunner::run_work_items(PinnedThreads& threads, Entry entry, const Loaded& loaded, long work_items,
                                long first) {
  struct Call {
    Entry entry;
    const Loaded& loaded;
    long first;
  } context = {entry, loaded, first};
  threads.run(
      work_items,
      [](void* given, int thread, long work_item) {
        const Call& call = *static_cast<Call*>(given);
        call.entry(call.loaded.params.data(), call.loaded.scratch[static_cast<std::size_t>(thread)].data(),
                   call.first + work_item);
      },
      &context);
}

HostRunner::Loaded& HostRunner::packed(int slot) {
  Loaded& loaded = *slots_.at(slot);
  if (loaded.prepack != nullptr && loaded.packed != inputs_)
    run_work_items(*threads_, loaded.prepack, loaded, loaded.prepack_work_items);
  loaded.packed = inputs_;
  return loaded;
}

void HostRunner::call(const Loaded& loaded) {
  for (long step = 0; step < loaded.steps; ++step)
    run_work_items(*threads_, loaded.entry, loaded, loaded.work_items, step * loaded.work_items);
}

std::optional<Fault> HostRunner::damage_by_another() const {
  const std::string damage = buffers_->damage();
  if (damage.empty()) return std::nullopt;
  return Fault{{FailureKind::kCrash, "another kernel " + damage, {}}, true, true};
}

std::optional<Fault> HostRunner::damage(const Loaded& loaded) const {
  for (const GuardedBytes& scratch : loaded.scratch) {
    const std::string damage = scratch.damage();
    if (damage.empty()) continue;
    return Fault{{FailureKind::kWrongResult, "wrote outside its scratch memory, " + damage, {}}, true};
  }
  for (const std::vector<GuardedBytes>* const behind : {&loaded.packs, &loaded.workspaces}) {
    for (const GuardedBytes& param : *behind) {
      const std::string damage = param.damage();
      if (damage.empty()) continue;
      return Fault{{FailureKind::kWrongResult, "wrote outside a parameter behind the tensors, " + damage, {}},
                   true};
    }
  }
  return std::nullopt;
}

std::variant<Checked, Fault> HostRunner::check_call(Loaded& loaded, std::int64_t rows) {
  for (std::vector<GuardedBytes>* const memory : {&loaded.scratch, &loaded.workspaces})
    for (GuardedBytes& bytes : *memory) bytes.poison();
  buffers_->reset_outputs();
  call(loaded);
  if (auto damaged = damage(loaded)) return *std::move(damaged);
  return buffers_->verdict(loaded.most_rows > 0 ? rows : 0);
}

// If a kernel takes the number of rows as an argument, also checks it with fewer rows: with all rows, tiles
// have no remainder.
std::variant<Checked, Fault> HostRunner::check(int slot) {
  Loaded& loaded = packed(slot);
  const std::int64_t rows = loaded.rows;
  const std::int64_t tried = loaded.most_rows > 0 ? fewer_rows(buffers_->problem()) : 0;
  if (tried > 0) {
    loaded.rows = tried;
    std::variant<Checked, Fault> fewer = check_call(loaded, loaded.rows);
    loaded.rows = rows;
    if (Fault* fault = std::get_if<Fault>(&fewer)) {
      fault->failure.text = fmt::format("of {} rows instead of {}: {}", tried, rows, fault->failure.text);
      return fewer;
    }
  }
  return check_call(loaded, rows);
}

std::variant<Checked, Fault> HostRunner::check_left(int slot) {
  const Loaded& loaded = *slots_.at(slot);
  if (auto damaged = damage(loaded)) return *std::move(damaged);
  return buffers_->verdict_left();
}

void HostRunner::replace_inputs(const Problem& problem) {
  buffers_->replace(problem);
  ++inputs_;
}

std::variant<std::vector<RunOutput>, Fault> HostRunner::output() const {
  return buffers_->output();
}

std::variant<Samples, Fault> HostRunner::time(int slot, const SampleRequest& request) {
  const Loaded& loaded = packed(slot);
  threads_->open();
  Samples samples = sample_calls([&] { call(loaded); }, request, threads_->count(), sweep_.on(*threads_));
  threads_->close();
  return samples;
}

void HostRunner::unload(int slot) {
  slots_.erase(slot);
}

}  // namespace lehr
