// What a command returns beside 0 and the numbers of ErrorKind (base/error.h).
#pragma once

namespace lehr {

inline constexpr int kCheckFailedCode = 4;
inline constexpr int kInterruptedCode = 130;  ///< as a shell has it for a program ended by Ctrl-C

}  // namespace lehr
