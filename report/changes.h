// What changed from one log to the next.
#pragma once

#include "report/document.h"

namespace lehr::report {

/// Compares the tasks of two logs, by workload and device; where a log has the workload once on a device of
/// that name, another compiler or driver is no hindrance. By the ratio, the largest loss first.
Change change_between(const Document& document, std::size_t from, std::size_t to);

}  // namespace lehr::report
