// Fuzzes the requests to a library: by a program, or by a node of a model that a stranger sent.
#include <cstdlib>
#include <string>

#include "runtime/kernels.h"
#include "tests/fuzz/targets.h"

namespace lehr::test {
namespace {

void keep(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

void fuzz_find(std::string_view bytes) {
  static kernels_context* const context = kernels_create_for(kernels_interface(), nullptr, nullptr, 0);
  const std::string text(bytes);
  const kernels_function* const found = kernels_find(context, text.c_str());
  if (found == nullptr) return keep(kernels_message(context)[0] != '\0');
  keep(kernels_find(context, found->workload) == found);
  kernels_variant variant = {};
  keep(kernels_describe(context, found, 0, &variant) == KERNELS_OK);
}

}  // namespace lehr::test
