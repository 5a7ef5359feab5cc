#include "tune/stored_kernel.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits_json.h"
#include "codegen/emit.h"
#include "codegen/source_hash.h"
#include "measure/worker/backends.h"
#include "target/archs.h"

namespace lehr {
namespace {

/// Returns the usual limits of the arch. If this version does not know the arch, returns those of another
/// arch of the target.
Limits usual_limits(const Limits& like) {
  const Archs& archs = archs_of(like.target);
  try {
    return archs.limits(like.arch, like.cores);
  } catch (const Error&) {
    return archs.limits(archs.known().front(), like.cores);
  }
}

/// Whether `make` makes, from the record's config, the same source as was measured.
bool is_made_alike(const Record& record, const auto& make) {
  try {
    return !why_another(record, make());
  } catch (const std::exception&) {  // a failing template must not end a log's reader
    return false;
  }
}

}  // namespace

StoredDevice stored_device(const Device& device) {
  StoredDevice stored;
  static_cast<Device&>(stored) = device;
  stored.identity = identity_of(device);
  if (backend_of(device.limits.target).peak_gflops == nullptr) return stored;
  const auto keep = [](const char*, const auto&) {};
  const auto leave_out = [](const char*, auto& rate) { rate = {}; };
  describe(keep, leave_out, stored.limits);
  return stored;
}

Limits limits_of(const StoredDevice& device) {
  Limits limits = usual_limits(device.limits);
  const auto keep = [](const char*, const auto&) {};
  const auto unknown = [](const char*, auto& rate) { rate = {}; };
  describe(keep, unknown, limits);
  limits.arch = device.limits.arch;
  CHECK(read_facts(facts_of(device.limits), limits));
  return limits;
}

std::optional<std::string> why_another(const Record& record, const Source& source) {
  const std::uint64_t hash = hash_of(source);
  if (hash == record.source_hash) return std::nullopt;
  return fmt::format(
      "this version makes another kernel of its config than was measured (hash {}, measured {})",
      to_hex(hash), to_hex(record.source_hash));
}

bool is_as_measured(const Record& record, const KernelSpace& kernels) {
  return is_made_alike(record, [&] { return emit(kernels.lower(kernels.space.point_of(record.config))); });
}

bool answers(const Record& record, const std::string& identity, const Candidates& candidates) {
  if (record.device != identity) return false;
  if (record.source_hash == 0) return record.template_version == candidates.version_of(record.config.family);
  return is_made_alike(record,
                       [&] { return candidates.source_of(candidates.space.point_of(record.config)); });
}

}  // namespace lehr
