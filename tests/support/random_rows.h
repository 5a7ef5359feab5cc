// Random row expressions: shapes, tensors of all kinds and types, statements.
#pragma once

#include <string>

#include "base/rng.h"

namespace lehr::testing {

/// Returns the text of a valid workload with up to `most_elements` elements in a tensor. The same generator
/// state gives the same text on every machine.
std::string random_rows(Rng& rng, double most_elements = 20000);

}  // namespace lehr::testing
