#include "measure/vendor/bundle/exported_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;

bool is_library_file(const fs::path& path) {
  return path.filename().string().starts_with("lib") && path.extension() == ".so";
}

/// Returns the library that a path names, or the library in the folder that it names.
fs::path library_at(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    if (!is_library_file(path))
      throw_user("{} is not named libNAME.so, as `lehr export` names a library", path);
    return fs::absolute(path);
  }
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (is_library_file(entry.path())) found.push_back(entry.path().string());
  if (error) throw_user("{} is no folder that `lehr export --out` has written: {}", path, error.message());
  if (found.empty()) throw_user("{} holds no lib*.so, which `lehr export --out` writes there", path);
  std::ranges::sort(found);
  if (found.size() > 1) throw_user("{} holds several libraries: name one, as {}", path, found[0]);
  return fs::absolute(found[0]);
}

}  // namespace

kernels_options on_processor(std::uint32_t threads) {
  kernels_options options = {};
  options.threads = threads;
  options.parallel_for = [](void*, std::uint32_t, void (*)(void*, std::uint32_t), void*) {};
  return options;
}

ExportedLibrary::ExportedLibrary(const std::string& path) {
  const fs::path file = library_at(path);
  file_ = file.string();
  name_ = file.stem().string().substr(3);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw_environment("{} cannot be loaded: {}", file_, dlerror());
  const std::string_view missing = functions_.find(library, name_);
  if (functions_.format != nullptr && functions_.format() != KERNELS_FORMAT)
    throw_user("{} is a library of format {}, and this version of lehr reads format {}: export it again",
               file_, functions_.format(), KERNELS_FORMAT);
  if (!missing.empty())
    throw_user("{} has no function named {}{}: `lehr export` of this version has not written it", file_,
               name_, missing);
}

ExportedLibrary::Context ExportedLibrary::context(const kernels_options& options,
                                                  std::string& why_not) const {
  char message[512] = "";
  kernels_context* const made =
      functions_.create_for(functions_.interface(), &options, message, sizeof message);
  why_not = message;
  return {made, ContextEnd{functions_.destroy}};
}

ExportedLibrary::Answer ExportedLibrary::answer(const Workload& workload,
                                                const kernels_options& options) const {
  Answer answer;
  std::string why_not;
  answer.context = context(options, why_not);
  if (!answer.context) throw_environment("the bundle does not run here: {}", why_not);
  answer.function = functions_.find_kernel(answer.context.get(), to_text(fixed_rows(workload)).c_str());
  if (answer.function == nullptr) throw_not_found("{}", functions_.message(answer.context.get()));
  if (answer.function->most_rows > 0) answer.rows = static_cast<std::uint64_t>(rows_of(workload));
  expect(functions_.describe(answer.context.get(), answer.function, answer.rows, &answer.row),
         answer.context);
  return answer;
}

void ExportedLibrary::expect(kernels_status status, const Context& context) const {
  if (status != KERNELS_OK) throw_environment("the bundle: {}", functions_.message(context.get()));
}

}  // namespace lehr
