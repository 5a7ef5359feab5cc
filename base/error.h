// The project's only exception type, and CHECK, which tests invariants. All folders report errors by these.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace lehr {

/// Who can correct the error. cli/main.cpp turns it into the exit code (docs/commands.md).
enum class ErrorKind {
  kUser,         ///< invalid input: exit code 1
  kEnvironment,  ///< something on this machine is missing or broken: exit code 2
  kNotFound,     ///< a valid question without an answer: exit code 3
  kDamaged,      ///< a file that Lehr wrote has other contents now: exit code 4
  kInternal,     ///< a CHECK failed: a bug of ours; exit code 2
};

/// Misuse or a broken environment. The message is one sentence that says what was wrong, where, and what
/// would be right. A *candidate* that fails is never an Error but a Failure value (record/outcome.h).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Throws Error(kind) with the formatted message.
[[noreturn]] void throw_error(ErrorKind kind, fmt::string_view format, fmt::format_args args);

template <typename... Args>
[[noreturn]] void throw_user(fmt::format_string<Args...> format, Args&&... args) {
  throw_error(ErrorKind::kUser, format, fmt::make_format_args(args...));
}
template <typename... Args>
[[noreturn]] void throw_environment(fmt::format_string<Args...> format, Args&&... args) {
  throw_error(ErrorKind::kEnvironment, format, fmt::make_format_args(args...));
}
template <typename... Args>
[[noreturn]] void throw_not_found(fmt::format_string<Args...> format, Args&&... args) {
  throw_error(ErrorKind::kNotFound, format, fmt::make_format_args(args...));
}
template <typename... Args>
[[noreturn]] void throw_damaged(fmt::format_string<Args...> format, Args&&... args) {
  throw_error(ErrorKind::kDamaged, format, fmt::make_format_args(args...));
}

/// Throws Error(kInternal); used by CHECK only.
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& detail);

}  // namespace lehr

/// Checks an invariant of the program, also in release builds. `CHECK(i < n, "i={} n={}", i, n)`.
#define CHECK(condition, ...)                                                                              \
  do {                                                                                                     \
    if (!(condition)) ::lehr::check_failed(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
