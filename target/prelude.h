// The device-intrinsics header, cut into snippets. A kernel gets only those that it uses, so that the text
// stays short enough to compile in milliseconds. No system header is included: <immintrin.h> alone would take
// longer than a kernel.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/target.h"

namespace lehr {

/// Names of snippets in the order in which they must be emitted.
using SnippetSet = std::set<std::string>;

/// Returns the text of the named snippets and of those that they need. CHECKs that each is known for the
/// target.
std::string prelude(Target target, const SnippetSet& used);

/// Returns the name of the function that implements an intrinsic statement ("cp_async_16" ->
/// "lehr_cp_async_16").
std::string intrinsic_function(std::string_view intrinsic);

}  // namespace lehr
