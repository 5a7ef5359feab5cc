// From a row's device text to limits: see origin.h.
#include "replay/origin.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "target/archs.h"

namespace lehr {
namespace {

// The number in " | cores=2 | " of an identity (measure/core/device.h).
int cores_of(const std::string& identity) {
  int cores = 1;
  const std::size_t at = identity.find("cores=");
  if (at != std::string::npos)
    std::from_chars(identity.data() + at + 6, identity.data() + identity.size(), cores);
  return std::max(1, cores);
}

}  // namespace

std::string short_name(const std::string& identity) {
  const std::vector<std::string_view> parts = split(identity, '|');
  if (parts.size() < 4) return identity;
  std::string name(parts[1]);
  name = name.substr(std::min(name.size(), name.find_first_not_of(' ')));
  name.resize(name.find_last_not_of(' ') + 1);
  return fmt::format("{}, {} cores", name, cores_of(identity));
}

std::optional<TableOrigin> origin_of(const Record& row) {
  try {
    const std::optional<Target> target = target_named(row.target);
    if (!target) return std::nullopt;
    return TableOrigin{parse_workload(row.workload), archs_of(*target).limits(row.arch, cores_of(row.device))};
  } catch (const Error&) {
    return std::nullopt;  // a workload or device of a newer version: its knobs remain
  }
}

}  // namespace lehr
