// The drawings of a page that never move.
#pragma once

#include <string>

#include "report/document.h"

namespace lehr::report {

/// Returns all figures of the document: `intervals-LOG`, `roofline-TASK`, `phases-TASK`, `coverage-NETWORK`,
/// by positions. A part without data has no figure.
std::string figures_of(const Document& document);

}  // namespace lehr::report
