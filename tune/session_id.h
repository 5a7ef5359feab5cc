// Names of tuner runs.
#pragma once

#include <string>

namespace lehr {

/// 32 hex digits that no other run has, on this machine or another.
std::string new_session_id();

}  // namespace lehr
