#include "apply/served.h"

#include <algorithm>

#include "apply/rewrite.h"
#include "base/error.h"
#include "network/narrow.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

IsServed served_on(const Limits& limits) {
  return [&limits](const Workload& workload) {
    return std::ranges::any_of(
        catalog(), [&](const Template& entry) { return !why_unserved(entry, kernels_of(workload), limits); });
  };
}

}  // namespace

Matches served_matches(const Network& network, const Limits& limits) {
  Matches matches = matches_of(network, served_on(limits));
  leave_out_unwritten(network, matches);
  return matches;
}

OtherForms other_forms_on(const Network& network, const Matches& matches, const Limits& limits, bool narrow) {
  if (narrow && network.model.opset() < kNarrowOpset)
    throw_user("the model is of opset {}, in which nothing takes bf16: it would have to be {} or newer",
               network.model.opset(), kNarrowOpset);
  const IsServed is_served = served_on(limits);
  const bool turns = limits.target.has(Feature::kHostFunction);
  return other_forms(
      network.model, network.shapes, matches,
      [&](const Workload& workload) {
        return (turns || !has_channels_last(workload)) && is_served(workload);
      },
      narrow);
}

std::vector<ServedWorkload> served_by(const Matches& matches, const Limits& limits) {
  double all = 0;
  for (const MatchedWorkload& matched : matches.workloads) all += flops_of(matched);
  for (const Gap& gap : matches.gaps) all += gap.flops;
  std::vector<ServedWorkload> served;
  for (const MatchedWorkload& matched : matches.workloads) {
    ServedWorkload& each = served.emplace_back(&matched, all > 0 ? flops_of(matched) / all : 0);
    for (const Template& entry : catalog()) {
      const auto reason = why_unserved(entry, kernels_of(matched.workload), limits);
      if (!reason) each.families.push_back(entry.name);
      if (reason && each.unserved.empty()) each.unserved = *reason;
    }
    if (!each.families.empty()) each.unserved.clear();
  }
  return served;
}

}  // namespace lehr
