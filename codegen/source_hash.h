// Whether two sources are the same kernel, across versions of the program: a hash that is stored with each
// trial.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/source.h"

namespace lehr {

/// Returns all that decides what the source computes and how it is launched, as one text. Every member
/// (source_fields.h) that is not 0, false or empty gives a line `name=value`, in their order. Members of
/// members are between `name{` and `}`. A text is its byte count, `:` and the text itself. Numbers are
/// decimal; several numbers follow their count. So a member that a later version adds does not change the
/// text of a source that does not use it.
std::string canonical_text(const Source& source);

/// Returns stable_hash() of canonical_text(). It is stored in logs, so both are fixed for ever. Never 0,
/// which means "not known".
std::uint64_t hash_of(const Source& source);

}  // namespace lehr
