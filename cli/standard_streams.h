// Makes a command fail if its output cannot be written. Text on stderr may be lost.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "base/text.h"

namespace lehr {

/// Opens /dev/null for closed descriptors from 0 to 2, so that no file gets their number; call it before
/// anything is opened. Output to a closed stdout then cannot be written; to a closed stderr it is lost.
void keep_standard_streams();

/// Flushes stdout. Returns "", or why its output could not be written, one sentence without a full stop.
std::string why_unwritten();

/// Whether stdout is a pipe that nobody reads any more.
bool nobody_reads();

/// Returns a line for stderr, with colours if it takes them: a leading "lehr:" is red, a note dim.
std::string toned(const std::string& line);

/// Writes `text` to stderr unchanged. If stderr cannot be written (full, closed), only this text is lost.
void write_to_stderr(const std::string& text);

/// Writes a line to stderr, made printable (base/text.h): notes and reasons quote files and arguments.
template <typename... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stderr(toned(printable_lines(fmt::format(format, std::forward<Values>(values)...))) + "\n");
}

/// Prints the document on stdout; text that is not UTF-8 becomes U+FFFD.
void print_json(const nlohmann::json& document);

}  // namespace lehr
