#include "measure/vendor/bundle/found_kernel.h"

#include <vector>

#include "base/error.h"

namespace lehr::bundle {

void FoundKernel::expect(lehr_status status) const {
  if (status != LEHR_OK) throw_environment("the bundle does not serve this: {}", error.text);
}

void FoundKernel::find(const RunSettings& settings, const std::string& workload, std::uint32_t target) {
  const std::vector<std::string> paths = {settings.bundle + "/liblehr_bundle.so"};
  const SharedLibrary library = load_library(paths);
  if (!library) throw_environment("{} cannot be loaded", paths[0]);
  if (const std::string_view missing = functions.find(library.handle); !missing.empty())
    throw_environment("{} has no function named {}", paths[0], missing);
  lehr_bundle bundle = 0;
  const lehr_open_options where = {sizeof where, nullptr, 0, settings.device};
  expect(functions.open(settings.bundle.c_str(), &where, &bundle, &error));
  const lehr_find_options options = {sizeof options, static_cast<std::uint32_t>(settings.threads), 0, target};
  expect(functions.find_kernel(bundle, workload.c_str(), &options, &kernel, &error));
  info.size = sizeof info;
  expect(functions.info(kernel, &info, &error));
}

std::uint64_t FoundKernel::param_bytes(std::uint32_t index) {
  lehr_param_info param = {};
  param.size = sizeof param;
  expect(functions.param(kernel, index, &param, &error));
  return param.bytes;
}

}  // namespace lehr::bundle
