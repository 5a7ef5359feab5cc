// What a command prints is written, or the command fails; what it says beside that on stderr may be lost.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "base/text.h"

namespace lehr {

/// Before anything is opened: descriptors 0 to 2 that are closed become /dev/null, so that no file takes
/// their number. What is printed to a closed stdout is not written; to a closed stderr it is lost.
void keep_standard_streams();

/// Flushes stdout: "", or why what was printed to it could not be written, one sentence without a full stop.
std::string why_unwritten();

/// Whether stdout is a pipe that nobody reads any more.
bool nobody_reads();

/// A line for stderr, where that takes colour: "lehr:" in front of it red, a note dim.
std::string toned(const std::string& line);

/// Writes `text` to stderr as it is. Where stderr takes nothing (full, closed) it is lost, and nothing else
/// is.
void write_to_stderr(const std::string& text);

/// A line on stderr, made printable (base/text.h): notes and reasons quote files and arguments.
template <typename... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stderr(toned(printable_lines(fmt::format(format, std::forward<Values>(values)...))) + "\n");
}

/// The document on stdout; what is no UTF-8 in it as U+FFFD.
void print_json(const nlohmann::json& document);

}  // namespace lehr
