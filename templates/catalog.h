// The list of all kernel families, and what they offer for a workload: a space of schedules, and the kernel
// of each of its points.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "templates/template.h"

namespace lehr {

std::span<const Template> catalog();

/// Returns the template of that name. Throws Error(kUser) naming the known ones.
const Template& template_named(std::string_view name);

/// Returns nullopt if the family serves the workload on the device, else the reason.
std::optional<std::string> why_unserved(const Template& entry, const Workload& workload,
                                        const Limits& limits);

/// A family that does not take part in the search for a workload, with the reason.
struct LeftOut {
  std::string family;
  std::string reason;
};

/// The families for one workload on one device.
struct Families {
  /// The families that serve the workload, in the order of `spaces`.
  std::vector<Template> serving;
  std::vector<FamilySpace> spaces;
  /// One point of each space. The last space's point comes first: the catalogue lists general families first,
  /// and a family made for few rows or for dot products is the better first guess if it serves the workload.
  std::vector<Config> defaults;
  /// Families of the operator and the target that refuse the workload, with the reasons of why_unserved().
  std::vector<LeftOut> refusing;
  /// Families that serve the workload but fail to describe their schedules. Either they throw an internal
  /// error, or their default is not a point of the space. That is a bug of the family; the search goes on
  /// without it.
  std::vector<LeftOut> faulty;
};
Families families_for(std::span<const Template> templates, const Workload& workload, const Limits& limits);

/// Explains why no family can be searched: a sentence with the reason of each family. Returns nullopt if at
/// least one can.
std::optional<std::string> why_none_serves(const Families& families, const Workload& workload,
                                           const Limits& limits);

/// All kernels of one workload on one device: a space, and the kernel of each of its points.
struct KernelSpace {
  Workload workload;
  Limits limits;
  Space space;
  std::vector<Template> families;  ///< families of `space`, in the same order
  std::vector<Point> defaults;     ///< Families::defaults

  /// Returns the kernel of a point. Pure; takes microseconds. May be called from any thread.
  ir::Kernel lower(const Point& point) const;
};
/// Returns the space and the kernels of the families that serve the workload, except for faulty ones. Throws
/// Error(kUser) with why_none_serves() if no family serves it.
KernelSpace kernel_space(Families families, const Workload& workload, const Limits& limits);
/// Does the same for all families of the catalogue.
KernelSpace kernel_space(const Workload& workload, const Limits& limits);

/// Returns the kernel of a config that comes from a log or a command line. Builds only the space of the
/// config's family. Throws Error(kUser) with the reason if the config is not in the workload's space.
ir::Kernel lower(const Workload& workload, const Config& config, const Limits& limits);

}  // namespace lehr
