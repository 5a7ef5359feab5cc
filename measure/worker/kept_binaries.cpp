#include "measure/worker/kept_binaries.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace lehr {

void KeptBinaries::keep(const Source& source, Binary binary, double time_us, bool pinned) {
  const auto known = std::ranges::find(kept_, source.text, &Kept::text);
  if (known != kept_.end()) {
    unlink(binary.path.c_str());
    known->time_us = std::min(known->time_us, time_us);
    known->pinned = known->pinned || pinned;
    return;
  }
  kept_.push_back({source.text, std::move(binary), time_us, pinned});
  if (std::ranges::count(kept_, false, &Kept::pinned) <= static_cast<std::ptrdiff_t>(most_)) return;
  const auto slowest =
      std::ranges::max_element(kept_, {}, [](const Kept& each) { return each.pinned ? -1.0 : each.time_us; });
  unlink(slowest->binary.path.c_str());
  kept_.erase(slowest);
}

const Binary* KeptBinaries::find(const Source& source) const {
  const auto known = std::ranges::find(kept_, source.text, &Kept::text);
  return known == kept_.end() ? nullptr : &known->binary;
}

void KeptBinaries::clear() {
  for (const Kept& each : kept_) unlink(each.binary.path.c_str());
  kept_.clear();
}

}  // namespace lehr
