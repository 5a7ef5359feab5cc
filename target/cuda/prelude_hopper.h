// The part of the device-intrinsics header that only Hopper has (sm_90a).
#pragma once

#include <string>

namespace lehr {

/// Returns the text of an intrinsic's function; "" if the intrinsic is not in this part of the header.
std::string hopper_snippet(const std::string& name);
/// Returns the name of the snippet that `name` needs; "" if it needs no snippet.
std::string hopper_snippet_needed_by(const std::string& name);

}  // namespace lehr
