// The file in which a learnt model is kept: a readable header that says what it is, then the forest's bytes.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// Raise it when the header or the meaning of the bytes changes.
inline constexpr int kModelFileVersion = 1;

/// Writes `bytes` (may be empty: a model that has learnt nothing) as a model of `kind` with the current
/// feature version and number of columns. The file is complete or not there. Throws Error(kEnvironment) if it
/// cannot be written.
void write_model_file(const std::string& path, std::string_view kind, std::string_view bytes);

/// The bytes of a model of `kind`. Throws Error(kEnvironment) if the file cannot be read and Error(kUser) for
/// a file that is none, is damaged, of another kind, of a newer format, or made with other features; the
/// message says which it has and which is needed.
std::string read_model_file(const std::string& path, std::string_view kind);

}  // namespace lehr
