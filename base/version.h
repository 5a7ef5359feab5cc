// The version of Lehr.
#pragma once

namespace lehr {

/// "0.1.0"
extern const char* const kVersion;

}  // namespace lehr
