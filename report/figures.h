// The figures of a page that do not change in the browser.
#pragma once

#include <string>

#include "report/document.h"

namespace lehr::report {

/// Returns all figures of the document. Their ids are `intervals-LOG`, `roofline-TASK`, `phases-TASK` and
/// `coverage-NETWORK`, with positions in the document. A part without data has no figure.
std::string figures_of(const Document& document);

}  // namespace lehr::report
