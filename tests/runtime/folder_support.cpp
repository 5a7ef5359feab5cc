#include "folder_support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "runtime/lehr_bundle.h"
#include "runtime/sha256.h"
#include "tests/support/seed.h"

namespace lehr::testing {

namespace fs = std::filesystem;
using nlohmann::json;

BundleFolder::BundleFolder()
    : manifest({{"format", "lehr-bundle-folder"},
                {"version", 1},
                {"files", json::object()},
                {"kernels", json::array()},
                {"sha256", std::string(64, '0')}}) {
  directory_ = (fs::temp_directory_path() / "lehr-bundle-XXXXXX").string();
  if (mkdtemp(directory_.data()) == nullptr)
    throw fs::filesystem_error("mkdtemp", std::error_code(errno, std::generic_category()));
  path_ = directory_ + "/bundle";
  fs::create_directories(path_ + "/kernels");
}

BundleFolder::~BundleFolder() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

void BundleFolder::add_library(const std::string& name, const std::string& text) {
  const std::string source = directory_ + "/" + name + ".cpp";
  std::ofstream(source) << text;
  const std::string command =
      fmt::format("c++ -O1 -shared -fPIC -nostdlib -o '{}/kernels/{}.so' '{}'", path_, name, source);
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

void BundleFolder::write_file(const std::string& name, const std::string& bytes) {
  std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
}

std::string BundleFolder::read_file(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path_ + "/" + name, std::ios::binary).rdbuf();
  return text.str();
}

namespace {

std::string hash_of(const std::string& bytes) {
  runtime::Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex().data();
}

}  // namespace

void BundleFolder::seal() {
  manifest["files"] = json::object();
  for (const auto& file : fs::directory_iterator(path_ + "/kernels")) {
    const std::string name = "kernels/" + file.path().filename().string();
    manifest["files"][name] = hash_of(read_file(name));
  }
  write_manifest();
}

void BundleFolder::write_manifest() {
  std::string text = manifest.dump(1);
  const std::string digits(64, '0');
  text.replace(text.rfind(digits), digits.size(), hash_of(text));
  write_file("manifest.json", text);
}

json scale_kernel(int rows, double time_us, int threads, bool bucket) {
  const auto param = [](const char* name, const char* role, int bytes, int alignment, int slice_bytes) {
    return json{{"name", name},   {"dtype", "f32"},         {"role", role},
                {"bytes", bytes}, {"alignment", alignment}, {"slice_bytes", slice_bytes}};
  };
  const std::string name = fmt::format("scale_{}", rows);
  return {{"name", name},
          {"workload", fmt::format("scale m={} width=4 kind=double", rows)},
          {"defaults", "kind=double"},
          {"shorter", "kind=2"},
          {"target", "cpu"},
#if defined(__x86_64__)
          {"machine", "x86_64"},
#else
          {"machine", "aarch64"},
#endif
          {"arch", "sse2"},
          {"features", json::array()},
          {"file", "kernels/" + name + ".so"},
          {"threads", threads},
          {"cold", false},
          {"time_us", time_us},
          {"max_error", rows * 1e-8},
          {"scratch_bytes", 20},
          {"params",
           {param("a", "in", 16 * rows, 4, 16), param("w", "in", 16, 4, 0),
            param("c", "out", 16 * rows, 4, 16), param("w_packed", "prepacked", 16, 64, 0)}},
          {"steps", {{{"entry", name + "_first"}, {"tasks", rows}}, {{"entry", name}, {"tasks", rows}}}},
          {"prepack", {{"entry", name + "_prepack"}, {"tasks", 4}, {"layout", "doubled"}, {"reads", {1}}}},
          {"slices", {{"field", "m"}, {"size", rows}, {"bucket", bucket}}}};
}

// The first step leaves a row of A in C, the second one scales it by way of its scratch.
std::string scale_text(int rows) {
  constexpr const char* kText = R"cpp(
    extern "C" void scale_ROWS_prepack(void* const* params, void*, long task) {
      ((float*)params[3])[task] = 2 * ((const float*)params[1])[task];
    }
    extern "C" void scale_ROWS_first(void* const* params, void*, long task) {
      for (int i = 0; i < 4; ++i) ((float*)params[2])[task * 4 + i] = ((const float*)params[0])[task * 4 + i];
    }
    extern "C" void scale_ROWS(void* const* params, void* scratch, long task) {
      volatile float* const row = (float*)scratch;
      for (int i = 0; i < 4; ++i) row[i] = ((float*)params[2])[task * 4 + i];
      for (int i = 0; i < 4; ++i) ((float*)params[2])[task * 4 + i] = row[i] * ((const float*)params[3])[i];
    }
  )cpp";
  std::string text = kText;
  for (std::size_t at; (at = text.find("ROWS")) != std::string::npos;)
    text.replace(at, 4, std::to_string(rows));
  return text;
}

void add_scale(BundleFolder& folder, int rows, double time_us, int threads, bool bucket) {
  const std::string name = fmt::format("scale_{}", rows);
  if (!fs::exists(folder.path() + "/kernels/" + name + ".so")) folder.add_library(name, scale_text(rows));
  folder.manifest["kernels"].push_back(scale_kernel(rows, time_us, threads, bucket));
}

namespace {

// Its rows come behind its parameters.
std::string told_scale_text(const std::string& name, bool plain) {
  constexpr const char* kText = R"cpp(
    extern "C" void NAME_prepack(void* const* params, void*, long task) {
      ((float*)params[3])[task] = 2 * ((const float*)params[1])[task];
    }
    extern "C" void NAME(void* const* params, void* scratch, long task) {
      if (task >= *(const long*)params[PARAMS]) return;
      volatile float* const row = (float*)scratch;
      for (int i = 0; i < 4; ++i) row[i] = ((const float*)params[0])[task * 4 + i];
      for (int i = 0; i < 4; ++i) ((float*)params[2])[task * 4 + i] = row[i] * WEIGHT[i];
    }
  )cpp";
  std::string text = kText;
  const auto replace = [&](const std::string& what, const std::string& with) {
    for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
  };
  replace("NAME", name);
  replace("PARAMS", plain ? "3" : "4");
  replace("WEIGHT", plain ? "2 * ((const float*)params[1])" : "((const float*)params[3])");
  return text;
}

}  // namespace

void add_told_scale(BundleFolder& folder, int most, double time_us, bool plain) {
  const std::string name = fmt::format("told_scale_{}{}", most, plain ? "_plain" : "");
  folder.add_library(name, told_scale_text(name, plain));
  json kernel = scale_kernel(most, time_us);
  kernel["rows"] = most;
  kernel["name"] = name;
  kernel["workload"] = fmt::format("scale m=..{} width=4 kind=double", most);
  kernel["file"] = "kernels/" + name + ".so";
  kernel["steps"] = {{{"entry", name}, {"tasks", most}}};
  kernel["prepack"]["entry"] = name + "_prepack";
  if (plain) {
    kernel["params"].erase(3);
    kernel.erase("prepack");
  }
  folder.manifest["kernels"].push_back(kernel);
}

void add_scale_set(BundleFolder& folder, int least, std::initializer_list<std::pair<int, int>> members,
                   std::initializer_list<std::pair<int, double>> times, int threads) {
  json set = {{"defaults", "kind=double"},
              {"shorter", "kind=2"},
              {"field", "m"},
              {"least", least},
              {"threads", threads}};
  for (const auto& [kernel, to] : members) {
    set["members"].push_back({{"kernel", kernel}, {"to", to}});
    set["most"] = to;
  }
  for (const auto& [rows, us] : times) set["times"].push_back({rows, us});
  set["workload"] = fmt::format("scale m={}..{} width=4 kind=double", least, set["most"].get<int>());
  folder.manifest["sets"].push_back(set);
  folder.manifest["version"] = 2;
}

void expect_no_corruption_loads(BundleFolder& folder, int times) {
  std::vector<std::string> names = {"manifest.json"}, sound;
  for (const auto& [name, hash] : folder.manifest["files"].items()) names.push_back(name);
  for (const std::string& name : names) sound.push_back(folder.read_file(name));
  const std::uint64_t seed = lehr::testing::test_seed(1);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int i = 0; i < times; ++i) {
    const std::size_t which = i % 2 == 0 ? 0 : below(names.size());
    std::string bytes = sound[which];
    switch (below(4)) {
      case 0:
        bytes[below(bytes.size())] ^= static_cast<char>(1u << below(8));
        break;
      case 1:
        bytes.resize(below(bytes.size()));
        break;
      case 2:
        bytes = sound[(which + 1 + below(names.size() - 1)) % names.size()];
        break;
      default:
        bytes.insert(below(bytes.size() + 1), 1, static_cast<char>(random()));
        break;
    }
    folder.write_file(names[which], bytes);
    lehr_bundle bundle = 1;
    lehr_error error = {sizeof error, ""};
    EXPECT_EQ(lehr_open(folder.path().c_str(), nullptr, &bundle, &error), LEHR_BAD_BUNDLE) << names[which];
    EXPECT_EQ(bundle, 0u);
    EXPECT_NE(std::string(error.text).find(names[which]), std::string::npos) << error.text;
    folder.write_file(names[which], sound[which]);
  }
}

json product_kernel(int rows, double time_us, bool bucket) {
  const std::string name = fmt::format("gemm_{}_8_4", rows);
  const auto param = [](const char* of, const char* role, int bytes, int slice) {
    return json{{"name", of},     {"dtype", "f32"},  {"role", role},
                {"bytes", bytes}, {"alignment", 16}, {"slice_bytes", slice}};
  };
  return {{"name", name},
          {"workload", fmt::format("gemm m={} n=8 k=4", rows)},
          {"defaults", ""},
          {"shorter", ""},
          {"target", "cuda"},
          {"machine", ""},
          {"arch", "sm_90a"},
          {"features", json::array()},
          {"file", "kernels/" + name + ".cubin"},
          {"threads", 0},
          {"cold", false},
          {"time_us", time_us},
          {"max_error", 0},
          {"scratch_bytes", 0},
          {"params",
           {param("a", "in", 16 * rows, 16), param("b", "in", 128, 0), param("c", "out", 32 * rows, 32)}},
          {"launch",
           {{"grid", {2, 3, 4}},
            {"block", {32, 2, 1}},
            {"cluster", 1},
            {"shared_bytes", 1024},
            {"programmatic", true},
            {"multiprocessors", 132},
            {"compiler", {13, 0}}}},
          {"slices", {{"field", "m"}, {"size", rows}, {"bucket", bucket}}}};
}

void add_product(BundleFolder& folder, const json& kernel, const std::string& image) {
  folder.write_file(kernel["file"], image);
  folder.manifest["kernels"].push_back(kernel);
}

}  // namespace lehr::testing
