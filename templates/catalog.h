// The explicit list of kernel families, and the three questions that everyone else asks of it.
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
  std::vector<FamilySpace> spaces;
  /// One point of each space, that of the last space first: the catalogue lists general families first, and
  /// one made for few rows or for dot products, where it serves the workload, is the better first guess.
  std::vector<Config> defaults;
  std::vector<LeftOut> refusing;  ///< of the operator and the target: what why_unserved() says
  /// Those that serve the workload and then fail to describe their schedules: an internal error, or a default
  /// that is no point of the space (as where it has none). A bug of theirs, which costs their part of the
  /// search and not the search.
  std::vector<LeftOut> faulty;
};
Families families_for(std::span<const Template> templates, const Workload& workload, const Limits& limits);

/// The union of their spaces, without those of the faulty families. Throws Error(kUser) with the reason of
/// each family where there is none.
Space space_of(Families families, const Workload& workload, const Limits& limits);

/// The same of all families of the catalogue.
Space space_for(const Workload& workload, const Limits& limits);

/// The AST of a config. Throws Error(kUser) with the reason for one that is not of that space.
ir::Kernel lower(const Workload& workload, const Config& config, const Limits& limits);

/// The same of many configs of one workload, in half of the time: a search's inner loop. From any thread.
class Lowerings {
 public:
  Lowerings(const Workload& workload, const Limits& limits);
  /// Where the caller has the spaces of families_for() the workload at hand.
  Lowerings(const Workload& workload, const Limits& limits, std::vector<FamilySpace> spaces);
  /// Of a point of space_for() the workload.
  ir::Kernel operator()(const Point& point) const;
  /// As lower().
  ir::Kernel operator()(const Config& config) const;

 private:
  Workload workload_;
  Limits limits_;
  std::vector<FamilySpace> spaces_;
};

/// The defaults of all families of the catalogue, in the order of Families::defaults.
std::vector<Config> default_configs(const Workload& workload, const Limits& limits);

}  // namespace lehr
