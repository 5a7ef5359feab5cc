// How a function of the interface answers.
#pragma once

#include "deploy/runtime/lehr_bundle.h"

namespace lehr::runtime {

/// Writes the sentence where the caller gave room for it, cut to what fits. Returns `status`.
[[gnu::format(printf, 3, 4)]] lehr_status fail(lehr_error* error, lehr_status status, const char* format,
                                               ...);
/// LEHR_OK, and an empty sentence.
lehr_status succeed(lehr_error* error);

}  // namespace lehr::runtime
