// Whether two sources are the same kernel, across versions of the program: by a hash that is stored with each
// trial.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/source.h"

namespace lehr {

/// All that decides what the source does and how it is launched, as one text: a line `name=value` for every
/// member (source_fields.h) that is not 0, false or empty, in their order; members of members behind `name{`,
/// up to `}`; a text as its byte count, `:` and the text itself, numbers in decimal, several behind their
/// count. A member that a later version adds therefore leaves the text of every source as it was that does
/// not use it.
std::string canonical_text(const Source& source);

/// stable_hash() of canonical_text(): stored in logs, so both are fixed for ever. Never 0, which stands for
/// "not known".
std::uint64_t hash_of(const Source& source);

}  // namespace lehr
