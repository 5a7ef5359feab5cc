// From what is linked into the program to an open bundle.
#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"

namespace lehr::runtime {
namespace {

constexpr const char* kWhere = "the linked bundle";

Entry entry_linked(void* context, const ManifestKernel&, std::string_view name, lehr_error* error) {
  const lehr_linked& linked = *static_cast<const lehr_linked*>(context);
  for (std::uint32_t i = 0; i < linked.function_count; ++i)
    if (linked.functions[i].name == name) return linked.functions[i].function;
  fail(error, LEHR_BAD_BUNDLE, "%s has no function named %s", kWhere, name.data());
  return nullptr;
}

lehr_status image_linked(void* context, const ManifestFile& file, Array<char>& bytes, lehr_error* error) {
  const lehr_linked& linked = *static_cast<const lehr_linked*>(context);
  for (std::uint64_t i = 0; i < linked.file_count; ++i) {
    const lehr_linked_file& one = linked.files[i];
    if (file.path != one.path) continue;
    if (!bytes.resize(one.size)) return fail(error, LEHR_NO_MEMORY, "there is no memory for %s", one.path);
    std::memcpy(bytes.data(), one.bytes, one.size);
    return LEHR_OK;
  }
  return fail(error, LEHR_BAD_BUNDLE, "%s has no %s", kWhere, file.path.data());
}

lehr_status open_table(const lehr_linked& linked, Bundle& bundle, lehr_error* error) {
  if (!bundle.text.resize(linked.manifest_bytes))
    return fail(error, LEHR_NO_MEMORY, "there is no memory for %s", kWhere);
  std::memcpy(bundle.text.data(), linked.manifest, linked.manifest_bytes);
  if (const lehr_status status =
          read_manifest(kWhere, bundle.text.data(), bundle.text.size(), bundle.manifest, error);
      status != LEHR_OK)
    return status;
  lehr_linked copy = linked;
  return load_kernels(bundle, kWhere, &entry_linked, &copy, error, &image_linked);
}

}  // namespace
}  // namespace lehr::runtime

using namespace lehr::runtime;

lehr_status lehr_open_linked(const lehr_linked* linked, const lehr_open_options* options, lehr_bundle* bundle,
                             lehr_error* error) {
  if (linked == nullptr || bundle == nullptr)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_open_linked needs a table and a place for the handle");
  *bundle = 0;
  if (linked->size < sizeof *linked || linked->manifest == nullptr ||
      (linked->functions == nullptr && linked->function_count > 0) ||
      (linked->files == nullptr && linked->file_count > 0))
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_open_linked takes the table that the bundle brings");
  Owner<Bundle> opened;
  lehr_open_options taken;
  if (const lehr_status status = begin_opening(options, kWhere, opened, taken, error); status != LEHR_OK)
    return status;
  if (const lehr_status status = open_table(*linked, *opened, error); status != LEHR_OK) return status;
  return finish_opening(std::move(opened), taken, bundle, error);
}
