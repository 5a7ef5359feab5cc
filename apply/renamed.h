// A GraphProto in which values have other names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "network/protobuf.h"

namespace lehr {

/// By a value's name the one that it gets.
using Renames = std::unordered_map<std::string_view, std::string>;

/// The field of a GraphProto at which `wire` is; what its subgraphs read of the graph is renamed, too. An
/// input stays as it is.
std::string renamed_field(const Wire& wire, const Renames& names);

/// Adds all names of values in a GraphProto, those of its subgraphs among them.
void add_names(std::string_view graph, std::unordered_set<std::string>& names);

}  // namespace lehr
