// A kernel family: which workloads it serves, the space of its schedules, and the lowering of one of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "ir/kernel.h"
#include "space/space.h"
#include "workload/workload.h"

namespace lehr {

/// Which pools may be the last step of an epilogue that a family serves.
enum class ServedPools {
  kNone,
  kApart,  ///< windows side by side (PoolWindows::are_apart())
  kAny
};

struct Template {
  /// = the family in configs.
  std::string name = {};
  /// Raise it when the same config lowers to another kernel; rows of older versions become evidence, but for
  /// those whose source is the same by its hash.
  int version = 1;
  /// The devices that its kernels run on.
  Target target;
  /// nullopt if it serves the workload on the device, else the reason. Only asked of workloads of its
  /// operator and devices of its target, and of those with a pool only where it has them: others ask
  /// why_unserved() (catalog.h).
  std::optional<std::string> (*why_not)(const Workload&, const Limits&) = nullptr;
  /// The schedules. Only called when why_not() is nullopt; never empty.
  FamilySpace (*space)(const Workload&, const Limits&) = nullptr;
  /// The kernel of a schedule, of which it has the members. Pure; microseconds.
  ir::Kernel (*lower_schedule)(const Workload&, const Members&, const Limits&) = nullptr;
  /// A schedule that a careful engineer would write down without measuring; a point of that space. Measured
  /// first.
  Config (*default_in)(const FamilySpace&, const Workload&, const Limits&) = nullptr;
  /// The operator that it serves.
  Operator op{};
  ServedPools pools = ServedPools::kNone;
  /// Of a workload's fields that came later (workload/field.h), those that its kernels heed; why_unserved()
  /// refuses workloads with others. The default are those that are older than the oldest family.
  std::vector<std::string_view> reads = {"math"};
  /// Whether its kernels do fewer products than the sum that defines the operator (Winograd's).
  bool saves_products = false;
};

}  // namespace lehr
