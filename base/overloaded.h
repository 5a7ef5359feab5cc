// The visitor helper for std::visit: a forgotten alternative does not compile.
#pragma once

namespace lehr {

template <typename... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

}  // namespace lehr
