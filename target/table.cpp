// The rows of the targets, in the order of base/target.h.
#include <array>

#include "base/text.h"
#include "target/archs.h"
#include "target/dialect.h"

namespace lehr {
namespace {

struct Row {
  const Dialect& dialect;
  const Archs& archs;
};
constexpr std::array kRows = {
    Row{kCpuDialect, kCpuArchs},
    Row{kCudaDialect, kCudaArchs},
};
static_assert(kRows.size() == kTargets.size());

}  // namespace

const Dialect& dialect_of(Target target) {
  return kRows[target.index()].dialect;
}
const Archs& archs_of(Target target) {
  return kRows[target.index()].archs;
}

const IsaLevel* isa_level_named(std::string_view name) {
  for (const Row& row : kRows)
    for (const IsaLevel& level : row.archs.levels)
      if (level.name == name) return &level;
  return nullptr;
}

const IsaLevel* isa_level_said(std::string_view identity) {
  constexpr std::string_view kFlag = "-march=";
  for (const std::string_view word : split(identity, ' '))
    if (word.starts_with(kFlag)) return isa_level_named(word.substr(kFlag.size()));
  return nullptr;
}

std::string_view name_of(const IsaLevel* level) {
  return level == nullptr ? kNativeIsa : level->name;
}

}  // namespace lehr
