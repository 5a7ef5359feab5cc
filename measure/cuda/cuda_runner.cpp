// Implements Runner with cubins.
#include "measure/cuda/cuda_runner.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace lehr {

CudaRunner::CudaRunner(CudaLibraries libraries) : harness_(std::move(libraries)) {}

void CudaRunner::prepare(const Problem& problem, const RunSettings& settings) {
  slots_.clear();
  harness_.prepare(problem, settings);
}

CudaRunner::Slot& CudaRunner::loaded(int slot) {
  const auto found = slots_.find(slot);
  CHECK(found != slots_.end(), "slot {} holds no candidate", slot);
  return found->second;
}

std::variant<Resources, Fault> CudaRunner::load(int slot, const Candidate& candidate) {
  CHECK(harness_.prepared(), "load before prepare");
  const auto launch_fault = [&](std::string text) {
    return Fault{{FailureKind::kLaunch, std::move(text), {}}, false};
  };
  std::ifstream file(candidate.path, std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (image.empty()) return launch_fault(fmt::format("{} cannot be read or is empty", candidate.path));

  Slot made;
  made.candidate = candidate;
  if (const CudaStatus status = made.kernel.load(harness_.driver(), image.data(), candidate.entry);
      !status.ok()) {
    return harness_.fault(FailureKind::kLaunch, status, candidate.entry);
  }
  const auto attribute = [&](CudaFunctionAttribute which) { return made.kernel.attribute(which); };
  const ir::Launch& launch = candidate.launch;
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (const auto most = attribute(CudaFunctionAttribute::kMaxThreadsPerBlock); most && threads > *most) {
    return launch_fault(fmt::format("{}: a block of {} threads; the compiled kernel allows {}",
                                    candidate.entry, threads, *most));
  }
  const int static_shared = attribute(CudaFunctionAttribute::kStaticSharedBytes).value_or(0);
  if (static_shared + launch.shared_bytes > kCudaDefaultSharedBytes) {
    if (const CudaStatus status = made.kernel.allow_dynamic_shared(launch.shared_bytes); !status.ok()) {
      return harness_.fault(FailureKind::kLaunch, status, candidate.entry);
    }
  }
  if (std::optional<Fault> refused = place_workspace(made)) return *std::move(refused);
  Resources resources;
  resources.registers = attribute(CudaFunctionAttribute::kRegisters);
  resources.stack_bytes = attribute(CudaFunctionAttribute::kLocalBytes);
  resources.shared_bytes = static_shared + static_cast<int>(launch.shared_bytes);
  slots_.erase(slot);
  slots_.emplace(slot, std::move(made));
  return resources;
}

std::optional<Fault> CudaRunner::place_workspace(Slot& slot) const {
  const Candidate& candidate = slot.candidate;
  if (candidate.workspace_bytes.empty()) return std::nullopt;
  CudaStatus status = slot.workspace.place(harness_.driver(), candidate.workspace_bytes, 1);
  for (std::size_t i = 0; i < slot.workspace.count() && status.ok(); ++i)
    status = slot.workspace.fill(i, 0, 0);
  if (status.ok()) return std::nullopt;
  return harness_.fault(FailureKind::kLaunch, status, candidate.entry);
}

void CudaRunner::unload(int slot) {
  slots_.erase(slot);
}

/// Returns a function that launches the kernel with the tensors of a set. Calls on one stream run one after
/// the other, so they share the workspace. Kernels that overlap with the previous call wait for it before
/// they touch the workspace (ir::Kernel::programmatic).
CudaHarness::Call CudaRunner::call_of(const Slot& slot) const {
  return [this, &slot](std::int64_t set) -> std::optional<Fault> {
    std::vector<CudaAddress> addresses;
    for (std::size_t i = 0; i < harness_.tensors().count(); ++i)
      addresses.push_back(harness_.tensors().address(i, set));
    for (std::size_t i = 0; i < slot.workspace.count(); ++i)
      addresses.push_back(slot.workspace.address(i, 0));
    std::vector<void*> arguments;
    for (CudaAddress& address : addresses) arguments.push_back(&address);
    for (std::size_t i = 0; i < harness_.tensors().count(); ++i)
      if (const void* const value = harness_.tensors().by_value(i)) arguments[i] = const_cast<void*>(value);
    std::vector<CudaTensorMap> maps(slot.candidate.tensor_maps.size());
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const TensorMapArgument& of = slot.candidate.tensor_maps[i];
      const CudaStatus made =
          encode_tensor_map(harness_.driver(), of.map, of.type, addresses.at(of.tensor), maps[i]);
      if (!made.ok()) return harness_.fault(FailureKind::kLaunch, made, slot.candidate.entry);
      arguments[of.tensor] = &maps[i];
    }
    const CudaStatus status = harness_.stream().launch(slot.kernel, slot.candidate.launch, arguments.data());
    if (status.ok()) return std::nullopt;
    return harness_.fault(FailureKind::kLaunch, status, slot.candidate.entry);
  };
}

std::variant<Checked, Fault> CudaRunner::check(int slot_number) {
  const Slot& slot = loaded(slot_number);
  const bool overlaps = slot.candidate.launch.programmatic;
  const CudaHarness::Call once = call_of(slot);
  std::variant<Checked, Fault> first = harness_.check(once, slot.candidate.entry);
  if (std::holds_alternative<Fault>(first) || (slot.workspace.count() == 0 && !overlaps)) return first;
  std::optional<CudaArena::Damage> damage;
  if (const CudaStatus status = slot.workspace.find_damage(damage); !status.ok())
    return harness_.fault(FailureKind::kLaunch, status, slot.candidate.entry);
  if (damage) {
    const std::string text = text_of(*damage, fmt::format("workspace {}", damage->piece));
    return Fault{{FailureKind::kWrongResult, fmt::format("{}: {}", slot.candidate.entry, text), {}}, false};
  }
  // Checks two launches: the next launch must work with the workspace that the first one has left, also while
  // both are running.
  const CudaHarness::Call twice = [&](std::int64_t set) {
    std::optional<Fault> refused = once(set);
    return refused ? refused : once(set);
  };
  return harness_.check(overlaps ? twice : once, slot.candidate.entry);
}

std::variant<Samples, Fault> CudaRunner::time(int slot_number, const SampleRequest& request) {
  const Slot& slot = loaded(slot_number);
  return harness_.time(call_of(slot), request, slot.candidate.entry);
}

std::variant<Checked, Fault> CudaRunner::check_left(int slot) {
  return harness_.check_left(loaded(slot).candidate.entry);
}

std::variant<Checked, Fault> CudaRunner::check_by_host(int slot_number) {
  const Slot& slot = loaded(slot_number);
  return harness_.check_by_host(call_of(slot), slot.candidate.entry);
}

void CudaRunner::replace_inputs(const Problem& problem) {
  harness_.replace(problem);
}

}  // namespace lehr
