// The explicit list of kernel families, and what it offers for a workload: a space, and the kernels of its
// points.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "templates/template.h"

namespace lehr {

std::span<const Template> catalog();

/// The template of that name. Throws Error(kUser) naming the known ones.
const Template& template_named(std::string_view name);

/// nullopt if the family serves the workload on the device, else the reason.
std::optional<std::string> why_unserved(const Template& entry, const Workload& workload,
                                        const Limits& limits);

/// A family that does not take part in the search for a workload, and why.
struct LeftOut {
  std::string family;
  std::string reason;
};

/// What families make of one workload on one device.
struct Families {
  /// Those that serve it, and the space of each.
  std::vector<Template> serving;
  std::vector<FamilySpace> spaces;
  /// One point of each space, that of the last space first: the catalogue lists general families first, and
  /// one made for few rows or for dot products, where it serves the workload, is the better first guess.
  std::vector<Config> defaults;
  /// Of the operator and the target: what why_unserved() says.
  std::vector<LeftOut> refusing;
  /// Those that serve the workload and then fail to describe their schedules: an internal error, or a default
  /// that is no point of the space (as where it has none). A bug of theirs, which costs their part of the
  /// search and not the search.
  std::vector<LeftOut> faulty;
};
Families families_for(std::span<const Template> templates, const Workload& workload, const Limits& limits);

/// nullopt if there is a family to search, else a sentence with the reason of each.
std::optional<std::string> why_none_serves(const Families& families, const Workload& workload,
                                           const Limits& limits);

/// All kernels of one workload on one device: a space, and the kernel of each of its points.
struct KernelSpace {
  Workload workload;
  Limits limits;
  Space space;
  std::vector<Template> families;  ///< of `space`, in its order
  std::vector<Point> defaults;     ///< those of Families::defaults

  /// Pure; microseconds. From any thread.
  ir::Kernel lower(const Point& point) const;
};
/// Of the families that serve the workload, without the faulty ones. Throws Error(kUser) with
/// why_none_serves().
KernelSpace kernel_space(Families families, const Workload& workload, const Limits& limits);
/// The same of all families of the catalogue.
KernelSpace kernel_space(const Workload& workload, const Limits& limits);

/// The kernel of one config that comes from outside, a log or a command line; its family's space alone is
/// looked at. Throws Error(kUser) with the reason for one that is not of the workload's space.
ir::Kernel lower(const Workload& workload, const Config& config, const Limits& limits);

}  // namespace lehr
