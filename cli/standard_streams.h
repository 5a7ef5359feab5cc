// Makes commands fail if their output on stdout cannot be written. Text on stderr may be lost.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "base/text.h"

namespace lehr {

/// Opens /dev/null for each closed descriptor from 0 to 2, so that no file gets its number. Call it before
/// anything is opened. Afterwards, writing to a stdout that was closed fails, and output to a stderr that was
/// closed is lost.
void keep_standard_streams();

/// Flushes stdout. Returns "", or a sentence without a full stop that explains why its output could not be
/// written.
std::string why_unwritten();

/// Whether stdout is a pipe that nobody reads any more.
bool nobody_reads();

/// Returns a line for stderr. If stderr takes colours, a leading "lehr:" is red, and a note is dim.
std::string toned(const std::string& line);

/// Writes `text` to stderr unchanged. If stderr cannot be written (full, closed), only this text is lost.
void write_to_stderr(const std::string& text);

/// Writes a line to stderr. The line is made printable (base/text.h), since notes and reasons quote files and
/// arguments.
template <typename... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stderr(toned(printable_lines(fmt::format(format, std::forward<Values>(values)...))) + "\n");
}

/// Prints the document on stdout; text that is not UTF-8 becomes U+FFFD.
void print_json(const nlohmann::json& document);

}  // namespace lehr
