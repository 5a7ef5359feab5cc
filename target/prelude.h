// The device-intrinsics header, divided into snippets. A kernel gets only the snippets that it uses, so that
// its text compiles in milliseconds. No system header is included: <immintrin.h> alone would take longer than
// a kernel.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/target.h"

namespace lehr {

/// Names of snippets in the order in which they must be emitted.
using SnippetSet = std::set<std::string>;

/// Returns the text of the snippets in `used` and of all snippets that they need. CHECKs that the target has
/// them.
std::string prelude(Target target, const SnippetSet& used);

/// Returns the name of the function that implements an intrinsic: "lehr_cp_async_16" for "cp_async_16".
std::string intrinsic_function(std::string_view intrinsic);

}  // namespace lehr
