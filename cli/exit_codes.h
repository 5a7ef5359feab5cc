// Exit codes of a command in addition to 0 and the numbers of ErrorKind (base/error.h).
#pragma once

namespace lehr {

inline constexpr int kCheckFailedCode = 4;
inline constexpr int kInterruptedCode = 130;  ///< as a shell reports a program that Ctrl-C ended

}  // namespace lehr
