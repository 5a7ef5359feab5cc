// The manifest of a bundle from a stranger, and the questions that a program asks of what it opens.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/bundle.h"
#include "runtime/sha256.h"
#include "tests/fuzz/targets.h"

namespace lehr::test {
namespace {

using namespace lehr::runtime;

void keep(bool promise) {
  if (!promise) std::abort();
}

// Behind its hash the reader would see little: so the hash of the text takes its place.
void make_hash_right(std::string& text) {
  constexpr std::string_view kMember = "\"sha256\": \"";
  constexpr std::size_t kDigits = 64;
  const std::size_t member = text.rfind(kMember);
  if (member == std::string::npos || text.size() - member < kMember.size() + kDigits) return;
  text.replace(member + kMember.size(), kDigits, kDigits, '0');
  Sha256 hash;
  hash.add(text.data(), text.size());
  text.replace(member + kMember.size(), kDigits, hash.hex().data());
}

void no_work(void* const*, void*, long) {}

Entry any_entry(void*, const ManifestKernel&, std::string_view, lehr_error*) {
  return &no_work;
}

void keep_within(const Manifest& manifest) {
  for (const ManifestKernel& kernel : manifest.kernels) {
    keep(kernel.file < manifest.files.size());
    keep(kernel.first_param + kernel.params <= manifest.params.size() && kernel.params > 0);
    keep(kernel.first_step + kernel.steps <= manifest.steps.size());
    keep(kernel.first_sample + kernel.samples <= manifest.samples.size());
    keep(kernel.test_rows <= kernel.rows);
  }
  for (const ManifestSet& set : manifest.sets) {
    keep(set.members > 0 && set.first_member + set.members <= manifest.members.size());
    keep(set.times > 0 && set.first_time + set.times <= manifest.times.size());
    for (std::uint32_t i = 0; i < set.members; ++i)
      keep(manifest.members[set.first_member + i].kernel < manifest.kernels.size());
  }
}

void ask(lehr_bundle bundle) {
  std::uint32_t count = 0;
  keep(lehr_count(bundle, &count, nullptr) == LEHR_OK && count > 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    lehr_kernel kernel = 0, found = 0;
    keep(lehr_at(bundle, i, &kernel, nullptr) == LEHR_OK);
    lehr_kernel_info info = {};
    info.size = sizeof info;
    keep(lehr_info(kernel, &info, nullptr) == LEHR_OK);
    for (std::uint32_t j = 0; j < info.params; ++j) {
      lehr_param_info param = {};
      param.size = sizeof param;
      keep(lehr_param(kernel, j, &param, nullptr) == LEHR_OK);
    }
    std::uint64_t bytes = 0;
    keep(lehr_scratch_bytes(kernel, 3, &bytes, nullptr) == LEHR_OK);
    lehr_find(bundle, info.workload, nullptr, &found, nullptr);
    // Another number of rows, put together or padded.
    const std::string workload = info.workload;
    for (const char* rows : {"m=1", "m=7", "m=99999999999", "n=5"}) {
      const std::size_t at = workload.find(std::string(" ") + rows[0] + "=");
      if (at == std::string::npos) continue;
      std::string other = workload;
      other.replace(at + 1, std::min(other.find(' ', at + 1), other.size()) - at - 1, rows);
      const lehr_find_options options = {sizeof options, i, 0, LEHR_ANY_TARGET};
      lehr_find(bundle, other.c_str(), &options, &found, nullptr);
    }
  }
}

}  // namespace

void fuzz_manifest(std::string_view bytes) {
  Owner<Bundle> bundle = Owner<Bundle>::make();
  std::string text(bytes);
  make_hash_right(text);
  keep(bool(bundle) && bundle->text.resize(text.size()));
  if (!text.empty()) std::memcpy(bundle->text.data(), text.data(), text.size());
  lehr_error error = {sizeof error, ""};
  if (read_manifest("it", bundle->text.data(), text.size(), bundle->manifest, &error) != LEHR_OK) {
    keep(error.text[0] != '\0');
    return;
  }
  keep_within(bundle->manifest);
  bundle->features = ~CpuFeatures{0};
  if (load_kernels(*bundle, "it", &any_entry, nullptr, &error) != LEHR_OK) return;
  const lehr_bundle handle = register_bundle(std::move(bundle));
  keep(handle != 0);
  ask(handle);
  keep(lehr_close(handle, nullptr) == LEHR_OK);
}

}  // namespace lehr::test
