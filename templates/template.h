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
  kApart,  ///< windows side by side (PoolWindows::are_apart())
  kAny
};

struct Template {
  /// The name of the family in configs.
  std::string name = {};
  /// Raise it when the same config lowers to another kernel. Rows of older versions then become evidence,
  /// except those whose source is the same by its hash.
  int version = 1;
  /// The devices that its kernels run on.
  Target target;
  /// Returns nullopt if it serves the workload on the device, else the reason. Only called for workloads of
  /// its operator and devices of its target, and for a pool only if it has `pools`. Callers use
  /// why_unserved() (catalog.h).
  std::optional<std::string> (*why_not)(const Workload&, const Limits&) = nullptr;
  /// Returns the schedules. Only called if why_not() is nullopt; never empty.
  FamilySpace (*space)(const Workload&, const Limits&) = nullptr;
  /// Returns the kernel of a schedule, given its members. Pure; takes microseconds.
  ir::Kernel (*lower_schedule)(const Workload&, const Members&, const Limits&) = nullptr;
  /// Returns a schedule that a careful engineer would write down without measuring: a point of that space. It
  /// is measured first.
  Config (*default_in)(const FamilySpace&, const Workload&, const Limits&) = nullptr;
  /// The operator that it serves.
  Operator op{};
  ServedPools pools = ServedPools::kNone;
  /// The later fields (workload/field.h) that its kernels support. why_unserved() refuses workloads with
  /// others. The default are fields that are older than the oldest family.
  std::vector<std::string_view> reads = {"math"};
  /// Whether its kernels compute fewer products than the sum that defines the operator (Winograd's).
  bool saves_products = false;
};

}  // namespace lehr
