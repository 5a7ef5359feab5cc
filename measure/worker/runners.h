// The table of runners: the one place where targets and vendor libraries are listed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "measure/worker/messages.h"

namespace lehr {

/// Receives requests on `in_fd` and answers on `out_fd`, beginning with `first`, until the parent hangs up or
/// asks for another runner: then it returns that request's text; "" at the end.
struct RunnerEntry {
  std::string_view name;
  std::string (*serve)(int in_fd, int out_fd, const PrepareRequest& first);
};
std::span<const RunnerEntry> runners();

}  // namespace lehr
