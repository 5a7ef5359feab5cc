// The explicit list of kernel families, and its result for a workload: a space, and the kernels of its
// points.
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

/// A family that does not take part in the search for a workload, and why.
struct LeftOut {
  std::string family;
  std::string reason;
};

/// The families for one workload on one device.
struct Families {
  /// The families that serve it, and the space of each.
  std::vector<Template> serving;
  std::vector<FamilySpace> spaces;
  /// One point of each space, that of the last space first. The catalogue lists general families first; a
  /// family made for few rows or for dot products is the better first guess if it serves the workload.
  std::vector<Config> defaults;
  /// Families of the operator and the target that refuse it, with the reasons of why_unserved().
  std::vector<LeftOut> refusing;
  /// Families that serve the workload and then fail to describe their schedules: an internal error, or a
  /// default that is not a point of the space (there may be no default). A bug of theirs, which loses their
  /// share of the search but not the search.
  std::vector<LeftOut> faulty;
};
Families families_for(std::span<const Template> templates, const Workload& workload, const Limits& limits);

/// Returns nullopt if there is a family to search, else a sentence with the reason of each.
std::optional<std::string> why_none_serves(const Families& families, const Workload& workload,
                                           const Limits& limits);

/// All kernels of one workload on one device: a space, and the kernel of each of its points.
struct KernelSpace {
  Workload workload;
  Limits limits;
  Space space;
  std::vector<Template> families;  ///< families of `space`, in its order
  std::vector<Point> defaults;     ///< Families::defaults

  /// Returns the kernel of a point. Pure; takes microseconds. May be called from any thread.
  ir::Kernel lower(const Point& point) const;
};
/// Returns the kernels of the families that serve the workload, without the faulty ones. Throws Error(kUser)
/// with why_none_serves().
KernelSpace kernel_space(Families families, const Workload& workload, const Limits& limits);
/// Does the same for all families of the catalogue.
KernelSpace kernel_space(const Workload& workload, const Limits& limits);

/// Returns the kernel of one config from outside, a log or a command line. Reads only the space of its
/// family. Throws Error(kUser) with the reason if it is not in the workload's space.
ir::Kernel lower(const Workload& workload, const Config& config, const Limits& limits);

}  // namespace lehr
