#include "runtime/message.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace lehr::runtime {
namespace {

// What the caller's struct, which may be an older and shorter one, has room for.
std::size_t room_in(const lehr_error* error) {
  if (error == nullptr || error->size <= offsetof(lehr_error, text)) return 0;
  return std::min(error->size - offsetof(lehr_error, text), sizeof error->text);
}

}  // namespace

lehr_status fail(lehr_error* error, lehr_status status, const char* format, ...) {
  if (const std::size_t room = room_in(error); room > 0) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error->text, room, format, arguments);
    va_end(arguments);
  }
  return status;
}

lehr_status succeed(lehr_error* error) {
  if (room_in(error) > 0) error->text[0] = '\0';
  return LEHR_OK;
}

}  // namespace lehr::runtime
