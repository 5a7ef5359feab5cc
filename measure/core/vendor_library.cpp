#include "measure/core/vendor_library.h"

#include <fmt/core.h>

namespace lehr {

std::vector<BaselineVariant> as_it_comes(std::string_view, int) {
  return {{}};
}

// A binding set for our own process would put all of the library's threads on one core.
std::vector<BaselineVariant> with_openmp(std::string_view, int threads) {
  return {{"", {fmt::format("OMP_NUM_THREADS={}", threads), "OMP_PROC_BIND=false", "OMP_DYNAMIC=false"}}};
}

}  // namespace lehr
