#include "measure/vendor/bundle/cuda_bundle.h"

#include "base/error.h"

namespace lehr::bundle {

void CudaBundleRunner::prepare(const Problem& problem, const RunSettings& settings) {
  harness_.prepare(problem, settings);
  // Into the context that the harness has made current.
  found_.find(settings, to_text(problem.workload), LEHR_CUDA);
  std::vector<std::int64_t> bytes;
  for (auto i = static_cast<std::uint32_t>(problem.tensors.size()); i < found_.info.params; ++i)
    bytes.push_back(static_cast<std::int64_t>(found_.param_bytes(i)));
  workspaces_ = CudaArena();
  if (!bytes.empty()) {
    CudaStatus status = workspaces_.place(harness_.driver(), bytes, 1);
    for (std::size_t i = 0; i < bytes.size() && status.ok(); ++i) status = workspaces_.fill(i, 0, 0);
    if (!status.ok())
      throw_environment("no memory for the bundle's workspaces: {}", harness_.driver().text_of(status));
  }
  std::uint64_t map_bytes = 0;
  found_.expect(found_.functions.tensor_map_bytes(found_.kernel, &map_bytes, &found_.error));
  maps_.resize(map_bytes / sizeof(CudaTensorMap));
  const std::vector<void*> addresses = params(0);
  const lehr_launch_call call = {sizeof call, found_.info.params, addresses.data(),
                                 nullptr,     maps_.data(),       map_bytes};
  found_.expect(found_.functions.encode(found_.kernel, &call, &found_.error));
}

std::vector<void*> CudaBundleRunner::params(std::int64_t set) const {
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < harness_.tensors().count(); ++i)
    addresses.push_back(reinterpret_cast<void*>(harness_.tensors().address(i, set)));
  for (std::size_t i = 0; i < workspaces_.count(); ++i)
    addresses.push_back(reinterpret_cast<void*>(workspaces_.address(i, 0)));
  return addresses;
}

CudaHarness::Call CudaBundleRunner::call_with(bool maps) {
  return [this, maps](std::int64_t set) -> std::optional<Fault> {
    const std::vector<void*> addresses = params(set);
    lehr_launch_call call = {
        sizeof call, found_.info.params, addresses.data(), harness_.stream().handle(), nullptr, 0};
    if (maps && set == 0 && !maps_.empty()) {
      call.tensor_maps = maps_.data();
      call.tensor_map_bytes = maps_.size() * sizeof(CudaTensorMap);
    }
    if (found_.functions.launch(found_.kernel, &call, &found_.error) == LEHR_OK) return std::nullopt;
    return Fault{{FailureKind::kLaunch, found_.error.text, {}}, false};
  };
}

std::variant<Checked, Fault> CudaBundleRunner::check(int) {
  std::variant<Checked, Fault> result = harness_.check(call_with(true), "the bundle");
  if (std::holds_alternative<Fault>(result)) return result;
  if (workspaces_.count() > 0) {
    std::optional<CudaArena::Damage> damage;
    if (const CudaStatus status = workspaces_.find_damage(damage); !status.ok())
      return harness_.fault(FailureKind::kLaunch, status, "the bundle");
    if (damage)
      return Fault{
          {FailureKind::kWrongResult,
           fmt::format("the bundle: {}", text_of(*damage, fmt::format("workspace {}", damage->piece))),
           {}},
          false};
  }
  result = harness_.check(call_with(false), "the bundle");
  if (auto* checked = std::get_if<Checked>(&result)) checked->note = found_.info.name;
  return result;
}

std::variant<Samples, Fault> CudaBundleRunner::time(int, const SampleRequest& request) {
  return harness_.time(call_with(true), request, "the bundle");
}

}  // namespace lehr::bundle
