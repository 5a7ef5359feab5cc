// A kernel family: the workloads that it serves, the space of its schedules, and the lowering of a schedule.
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

/// Pools that may be the last step of an epilogue that a family serves.
enum class ServedPools {
  kNone,
  kApart,  ///< windows that lie side by side (PoolWindows::are_apart())
  kAny
};

struct Template {
  /// The name of the family in configs.
  std::string name = {};
  /// Must be increased when the same config lowers to a different kernel. Rows of the log with an older
  /// version are then used only as evidence, except those whose source has the same hash.
  int version = 1;
  /// The devices on which its kernels run.
  Target target;
  /// Explains why the family does not serve the workload on the device; returns nullopt if it does. Only
  /// called for workloads of its operator and devices of its target, and for a workload with a pool only if
  /// the family has `pools`. Callers use why_unserved() (catalog.h).
  std::optional<std::string> (*why_not)(const Workload&, const Limits&) = nullptr;
  /// Returns the schedules. Only called if why_not() is nullopt; never empty.
  FamilySpace (*space)(const Workload&, const Limits&) = nullptr;
  /// Returns the kernel of a schedule, which is given by its members. A pure function that takes
  /// microseconds.
  ir::Kernel (*lower_schedule)(const Workload&, const Members&, const Limits&) = nullptr;
  /// Returns the schedule that a careful engineer would choose without measuring, as a point of that space.
  /// It is measured first.
  Config (*default_in)(const FamilySpace&, const Workload&, const Limits&) = nullptr;
  /// The operator that it serves.
  Operator op{};
  ServedPools pools = ServedPools::kNone;
  /// Names of the optional workload fields (workload/field.h) that its kernels support. why_unserved()
  /// refuses workloads with other optional fields. The default lists the fields that are older than the
  /// oldest family.
  std::vector<std::string_view> reads = {"math"};
  /// Whether its kernels compute fewer products than the operator's definition (Winograd's algorithm).
  bool is_winograd = false;
};

}  // namespace lehr
