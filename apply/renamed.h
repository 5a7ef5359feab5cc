// Renames values in a GraphProto.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "network/protobuf.h"

namespace lehr {

/// Maps old names to new names.
using Renames = std::unordered_map<std::string_view, std::string>;

/// Returns the current field of `wire`, which is a field of a GraphProto, with the field's values renamed. If
/// subgraphs read values of the graph, the values are renamed in the subgraphs, too. A field with an input of
/// the graph is returned unchanged.
std::string renamed_field(const Wire& wire, const Renames& names);

/// Adds the names of all values in a GraphProto and its subgraphs to `names`.
void add_names(std::string_view graph, std::unordered_set<std::string>& names);

}  // namespace lehr
