// From a row's device to limits: see origin.h.
#include "replay/origin.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "target/archs.h"
#include "tune/stored_kernel.h"

namespace lehr {

std::optional<KernelSpace> kernels_of(const TableOrigin& origin) {
  try {
    return kernel_space(origin.workload, origin.limits);
  } catch (const Error&) {
    return std::nullopt;
  }
}

int cores_of(const std::string& identity) {
  int cores = 1;
  const std::size_t at = identity.find("cores=");
  if (at != std::string::npos)
    std::from_chars(identity.data() + at + 6, identity.data() + identity.size(), cores);
  return std::max(1, cores);
}

std::string short_name(const std::string& identity) {
  const std::vector<std::string_view> parts = split(identity, '|');
  if (parts.size() < 4) return identity;
  std::string name(parts[1]);
  name = name.substr(std::min(name.size(), name.find_first_not_of(' ')));
  name.resize(name.find_last_not_of(' ') + 1);
  const Isa isa = isa_of_identity(identity);
  return fmt::format("{}{}, {} cores", name, isa.level == nullptr ? "" : fmt::format(" as {}", name_of(isa)),
                     cores_of(identity));
}

std::optional<TableOrigin> origin_of(std::span<const Record> rows, const LoggedFacts& facts) {
  const Record& newest = rows.back();
  try {
    Workload workload = parse_workload(newest.workload);
    for (const Record& row : std::views::reverse(rows))
      if (const auto device = facts.find(row.device_hash); device != facts.end())
        return TableOrigin{std::move(workload), limits_of(device->second)};
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // a workload or device of a newer version: only the knobs can be used
  }
}

bool LoggedDevices::include(const Record& record) const {
  if (!target.empty() && record.target != target) return false;
  if (!arch.empty() && record.arch != arch) return false;
  if (isa.level != nullptr && isa_of_identity(record.device) != isa) return false;
  const std::optional<Target> of = target_named(record.target);
  return threads == 0 || !of || !of->has(Feature::kChosenCores) || cores_of(record.device) == threads;
}

}  // namespace lehr
