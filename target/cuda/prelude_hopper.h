// The part of the device-intrinsics header that only Hopper has (sm_90a).
#pragma once

#include <string>

namespace lehr {

/// Returns the text of an intrinsic's function, or "" for a name that is not one of this part.
std::string hopper_snippet(const std::string& name);
/// Returns the snippet that `name` needs, or "".
std::string hopper_snippet_needed_by(const std::string& name);

}  // namespace lehr
