// How a function of the interface answers.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/lehr_bundle.h"

namespace lehr::runtime {

/// Writes the sentence where the caller gave room for it, cut to what fits. Returns `status`.
[[gnu::format(printf, 3, 4)]] lehr_status fail(lehr_error* error, lehr_status status, const char* format,
                                               ...);
/// LEHR_OK, and an empty sentence.
lehr_status succeed(lehr_error* error);

/// A caller's struct, as far as its size says that it goes; NULL, and what it has not, is zero. `first`: the
/// size of the first version, below which none is.
template <typename Struct>
lehr_status take(const Struct* given, std::size_t first, const char* name, Struct& taken, lehr_error* error) {
  taken = {};
  if (given == nullptr) return LEHR_OK;
  if (given->size < first)
    return fail(error, LEHR_BAD_ARGUMENT, "%s::size is %u: set it to sizeof", name, given->size);
  std::memcpy(&taken, given, given->size < sizeof taken ? given->size : sizeof taken);
  return LEHR_OK;
}

/// The same where a kernel is about to run: `given`, which is no null pointer, is read where it lies unless
/// it is shorter than this version's; then it points to `room`.
template <typename Struct>
lehr_status take_in_place(const Struct*& given, std::size_t first, const char* name, Struct& room,
                          lehr_error* error) {
  if (given->size >= sizeof room) return LEHR_OK;
  const lehr_status status = take(given, first, name, room, error);
  given = &room;
  return status;
}

}  // namespace lehr::runtime
