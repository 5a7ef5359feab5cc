// The part of the device-intrinsics header that only Hopper has (sm_90a).
#pragma once

#include <string>

namespace lehr {

/// Text of an intrinsic's function, or "" for a name that is not one of this part.
std::string hopper_snippet(const std::string& name);
/// The snippet that `name` cannot do without, or "".
std::string hopper_snippet_needed_by(const std::string& name);

}  // namespace lehr
