// Matches of a network in which one dimension may have any size of a range.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "network/places.h"

namespace lehr {
namespace {

/// A match at one size.
struct Found {
  const Workload* workload = nullptr;
  const NetworkPlace* place = nullptr;
};
using PlacesByOutput = std::unordered_map<std::string_view, Found>;

PlacesByOutput by_output(const NetworkPlaces& places) {
  PlacesByOutput found;
  for (const PlacedWorkload& placed : places.workloads)
    for (const NetworkPlace& place : placed.places) found[place.output] = {&placed.workload, &place};
  return found;
}

/// Whether both workloads differ only in their rows, of which `smaller` has at most as many.
bool differ_in_rows(const Workload& largest, const Workload& smaller) {
  const bool both_products = rows_of(largest) > 0 && rows_of(smaller) > 0;
  if (!both_products) return smaller == largest;
  return rows_of(smaller) <= rows_of(largest) && with_rows(smaller, rows_of(largest)) == largest;
}

/// Whether kernels can take the number of rows as an argument.
bool is_valid(const Workload& range) {
  try {
    validate(kernels_of(range));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Returns the workload of a match for all sizes; nullopt if no workload expresses it.
std::optional<Workload> over_all(const Workload& largest, const NetworkPlace& place,
                                 const std::vector<PlacesByOutput>& smaller) {
  std::int64_t least = rows_of(largest);
  for (const PlacesByOutput& places : smaller) {
    const auto found = places.find(place.output);
    if (found == places.end() || found->second.place->nodes != place.nodes ||
        !differ_in_rows(largest, *found->second.workload))
      return std::nullopt;
    least = std::min(least, rows_of(*found->second.workload));
  }
  if (least == rows_of(largest)) return largest;
  if (place.by_rows) return call_rows(largest).open ? std::optional(largest) : std::nullopt;
  const Workload range = with_call_rows(largest, {.most = rows_of(largest), .least = least});
  return is_valid(range) ? std::optional(range) : std::nullopt;
}

void add(NetworkPlaces& places, Workload workload, NetworkPlace place) {
  const auto same = std::ranges::find(places.workloads, workload, &PlacedWorkload::workload);
  if (same != places.workloads.end())
    same->places.push_back(std::move(place));
  else
    places.workloads.push_back({std::move(workload), {std::move(place)}});
}

}  // namespace

NetworkPlaces places_of(const Network& network, const IsServed& is_served) {
  NetworkPlaces largest = places_of(network.model, network.shapes, is_served);
  if (network.smaller.empty()) return largest;
  std::vector<NetworkPlaces> others;
  std::vector<PlacesByOutput> smaller;
  for (const GraphShapes& shapes : network.smaller)
    others.push_back(places_of(network.model, shapes, is_served));
  for (const NetworkPlaces& each : others) smaller.push_back(by_output(each));
  NetworkPlaces places;
  places.gaps = std::move(largest.gaps);
  for (PlacedWorkload& placed : largest.workloads)
    for (NetworkPlace& place : placed.places) {
      if (auto workload = over_all(placed.workload, place, smaller))
        add(places, std::move(*workload), std::move(place));
      else if (!place.by_rows)
        places.gaps.push_back({"within the range of sizes more of it varies than its rows",
                               flops_of(placed.workload), place.nodes[0]});
    }
  return places;
}

}  // namespace lehr
