// A hash that is stored with each trial. It tells whether two sources are the same kernel, across versions of
// the program.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/source.h"

namespace lehr {

/// Returns a text of everything that decides what the source computes and how it is launched. Every member
/// (source_fields.h) that is not 0, false or empty becomes a line `name=value`, in the order of the members.
/// Members of a nested struct stand between `name{` and `}`. A string is written as its byte count, `:` and
/// the string itself. Numbers are decimal; several numbers follow their count. A member that a later version
/// adds thus does not change the text of a source that does not use it.
std::string canonical_text(const Source& source);

/// Returns stable_hash() of canonical_text(). It is stored in logs, so both are fixed for ever. Never 0,
/// which means "not known".
std::uint64_t hash_of(const Source& source);

}  // namespace lehr
