// Renames values in a GraphProto.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "network/protobuf.h"

namespace lehr {

/// The new names by the old ones.
using Renames = std::unordered_map<std::string_view, std::string>;

/// Returns the field of a GraphProto at `wire`, renamed. Names that its subgraphs read from the graph are
/// renamed, too. An input is unchanged.
std::string renamed_field(const Wire& wire, const Renames& names);

/// Adds all names of values in a GraphProto and its subgraphs.
void add_names(std::string_view graph, std::unordered_set<std::string>& names);

}  // namespace lehr
