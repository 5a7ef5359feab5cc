// The rows of the targets, in the order of base/target.h.
#include <array>

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

}  // namespace lehr
