// What verdicts of before schema 3 tell only in the JSON document that was stored with them.
#pragma once

#include "database/record.h"

namespace lehr {

/// Sets the intervals and `deterministic` to what `verdict.json` says. What it does not say, or says as
/// nothing that `tune --json` ever printed, is not known.
void take_from_document(StoredVerdict& verdict);

}  // namespace lehr
