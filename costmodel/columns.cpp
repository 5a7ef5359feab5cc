// The functions of Columns that are not needed to fill rows.
#include "costmodel/columns.h"

#include "base/error.h"

namespace lehr {

void Columns::describe(std::string_view group, std::string_view name, std::string_view unit,
                       std::string_view meaning) {
  described_->push_back({std::string(group) + std::string(name), unit, meaning});
}

void Columns::fail() {
  CHECK(false, "a row has more values than the table has columns");
  __builtin_unreachable();
}

}  // namespace lehr
