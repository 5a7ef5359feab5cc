// The part of the device-intrinsics header for small types and tensor cores.
#pragma once

#include <string>

namespace lehr {

/// The CUDA text of a snippet, "" when there is none of that name.
std::string tensor_snippet(const std::string& name);
/// Snippet that `name` calls and that must be emitted with it; "" for none. It sorts before `name`.
std::string tensor_snippet_needed_by(const std::string& name);

}  // namespace lehr
