// The drawings of a page that never move.
#pragma once

#include <string>

#include "report/document.h"

namespace lehr::report {

/// All figures of the document: `intervals-LOG`, `roofline-TASK`, `phases-TASK`, `coverage-NETWORK`, by
/// positions. What has nothing to draw has none.
std::string figures_of(const Document& document);

}  // namespace lehr::report
