// The device-intrinsics header, cut into snippets: only what a kernel uses is put in front of it, so that the
// text stays short enough to compile in milliseconds. No system header is included: <immintrin.h> alone would
// cost more than a kernel.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/target.h"

namespace lehr {

/// Names of snippets in the order in which they must be emitted.
using SnippetSet = std::set<std::string>;

/// The text of the named snippets and of those that they need. CHECKs that each is known for the target.
std::string prelude(Target target, const SnippetSet& used);

/// Name of the function that implements an intrinsic statement ("cp_async_16" -> "lehr_cp_async_16").
std::string intrinsic_function(std::string_view intrinsic);

}  // namespace lehr
