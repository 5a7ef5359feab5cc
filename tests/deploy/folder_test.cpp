// From kernels to a folder and back: what the library that a product loads computes from it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/error.h"
#include "codegen/emit.h"
#include "deploy/export_folder.h"
#include "deploy/self_test.h"
#include "measure/host/cpu_device.h"
#include "measure/host/processor_features.h"
#include "measure/system/temp_dir.h"
#include "runtime/cpu_features.h"
#include "runtime/lehr_bundle.h"
#include "runtime/sha256.h"
#include "templates/catalog.h"
#include "tests/deploy/exported.h"
#include "tests/support/isa_limits.h"
#include "tune/stored_kernel.h"
#include "workload/operator.h"
#include "workload/reference.h"
#include "workload/slices.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;
using lehr::testing::Aligned;
using lehr::testing::exported;
using lehr::testing::files_of;
using lehr::testing::Folder;
using lehr::testing::Opened;
using lehr::testing::options;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Runs the bundle's kernel for a workload and compares all of its output with the reference.
lehr_kernel_info expect_right(lehr_bundle bundle, const std::string& text, std::uint32_t workers) {
  SCOPED_TRACE(text);
  lehr_error error = {sizeof error, ""};
  lehr_kernel kernel = 0;
  EXPECT_EQ(lehr_find(bundle, text.c_str(), nullptr, &kernel, &error), LEHR_OK) << error.text;
  lehr_kernel_info info = {};
  info.size = sizeof info;
  EXPECT_EQ(lehr_info(kernel, &info, &error), LEHR_OK) << error.text;
  const Workload workload = parse_workload(text);
  const std::vector<std::vector<float>> inputs = make_inputs(workload, 7);
  const Reference reference = make_reference(workload, inputs, 1e12);
  std::vector<std::vector<Aligned>> memory(info.params);
  std::vector<void*> params;
  std::size_t output = 0;
  for (std::uint32_t i = 0; i < info.params; ++i) {
    lehr_param_info param = {};
    param.size = sizeof param;
    EXPECT_EQ(lehr_param(kernel, i, &param, &error), LEHR_OK) << error.text;
    memory[i].resize(param.bytes / 64 + 1);
    if (param.role == LEHR_OUT) {
      output = i;
      EXPECT_EQ(param.bytes, reference.values.size() * sizeof(float));
    }
    if (param.role == LEHR_IN) {
      EXPECT_EQ(param.bytes, inputs.at(i).size() * sizeof(float));
      std::memcpy(memory[i][0].bytes.data(), inputs[i].data(), param.bytes);
    }
    params.push_back(memory[i].data());
  }
  std::uint64_t bytes = 0;
  EXPECT_EQ(lehr_scratch_bytes(kernel, workers, &bytes, &error), LEHR_OK);
  std::vector<Aligned> scratch(bytes / 64 + 1);
  lehr_pool* pool = nullptr;
  EXPECT_EQ(lehr_pool_create(workers, &pool, &error), LEHR_OK);
  const lehr_call call = {
      sizeof call, info.params, params.data(), scratch.data(), bytes, workers, &lehr_pool_run, pool, 0};
  EXPECT_EQ(lehr_prepack(kernel, &call, &error), LEHR_OK) << error.text;
  EXPECT_EQ(lehr_run(kernel, &call, &error), LEHR_OK) << error.text;
  lehr_pool_destroy(pool);
  const auto* const got = reinterpret_cast<const float*>(memory[output].data());
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    EXPECT_LE(std::abs(got[i] - reference.values[i]), reference.tolerance) << i;
    if (!(std::abs(got[i] - reference.values[i]) <= reference.tolerance)) break;
  }
  return info;
}

constexpr const char* kWorkloads[] = {"gemm m=64 n=48 k=33",
                                      "gemm m=17 n=70 k=64 epilogue=bias+relu",
                                      "gemm m=1 n=64 k=64",
                                      "conv2d n=2 h=14 w=13 c=8 k=12 r=3 s=3 pad=1 epilogue=bias+relu",
                                      "conv2d h=9 w=9 c=16 k=16 r=1 s=1 layout=nhwc",
                                      "conv2d h=16 w=16 c=8 k=8 r=3 s=3 pad=1 groups=8"};

TEST(BundleFolder, ComputesWhatTheWorkloadsSay) {
  std::vector<RebuiltKernel> kernels;
  for (const char* text : kWorkloads) kernels.push_back(exported(text, 10));
  kernels.push_back(exported("conv2d h=14 w=14 c=16 k=16 r=3 s=3 pad=1", 10, "conv2d_winograd_cpu"));
  kernels.push_back(exported("conv2d h=15 w=14 c=16 k=16 r=3 s=3 pad=1", 10, "conv2d_im2col_cpu"));
  const Folder folder(kernels);
  const Opened bundle(folder.path);
  for (const RebuiltKernel& kernel : kernels) {
    for (const std::uint32_t workers : {1u, 2u, 3u}) {
      const lehr_kernel_info info = expect_right(bundle.handle, to_text(kernel.workload), workers);
      EXPECT_EQ(info.answer, static_cast<std::uint32_t>(LEHR_EXACT));
      EXPECT_DOUBLE_EQ(info.time_us, 10);
      EXPECT_EQ(info.threads, 2u);
    }
  }
}

TEST(BundleFolder, KnowsWhatItsKernelsHaveToCompute) {
  RebuiltKernel kernel = exported(kWorkloads[0], 1);
  std::string& text = kernel.source.text;
  const std::string begin = "(void* const* params, void* scratch, long task) {";
  const std::size_t at = text.rfind(begin);
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at + begin.size(), " if (task == 0) return; ");
  const Folder folder(std::array{kernel});
  const lehr_open_options tested = {sizeof tested, nullptr, 1, 0};
  lehr_error error = {sizeof error, ""};
  lehr_bundle bundle = 0;
  EXPECT_EQ(lehr_open(folder.path.c_str(), &tested, &bundle, &error), LEHR_WRONG_RESULT);
  EXPECT_THAT(std::string(error.text), HasSubstr("does not write c[0]"));
  EXPECT_TRUE(self_test_of(parse_workload("conv2d h=64 w=64 c=64 k=64 r=3 s=3 pad=1"))->output.size() == 16);
  EXPECT_FALSE(self_test_of(parse_workload("gemm m=64 n=64 k=64 a=f16")));
}

TEST(BundleFolder, TestsNarrowTypesOnInputsThatSuitThem) {
  using Spread = std::pair<double, double>;
  EXPECT_TRUE(self_test_of(parse_workload("gemm m=8 n=8 k=8"))->inputs.empty());
  const SelfTest bf16 = *self_test_of(parse_workload("gemm m=8 n=8 k=8 a=bf16 b=bf16 c=bf16"));
  EXPECT_TRUE(bf16.inputs.empty());
  EXPECT_GT(bf16.tolerance, 0x1p-9);
  const char* const text = "gemm m=8 n=8 k=64 a=u8 b=s8 c=u8 accum=s32 zero=input epilogue=dequant";
  const SelfTest exact = *self_test_of(parse_workload(std::string(text) + "+residual(s8)+relu+quant"));
  EXPECT_EQ(exact.tolerance, 0);
  ASSERT_EQ(exact.inputs.size(), 9U);
  EXPECT_EQ(exact.inputs[0], Spread(128, 50));
  EXPECT_EQ(exact.inputs[2], Spread(131, 0)) << "a zero point";
  EXPECT_EQ(exact.inputs[8], Spread(131, 0)) << "that of the output";
  std::set<float> values;
  for (const auto& [index, value] : exact.output) values.insert(value);
  EXPECT_GT(values.size(), 5U);
  EXPECT_GT(self_test_of(parse_workload(std::string(text) + "+silu+quant"))->tolerance, 0.5);
}

TEST(BundleFolder, PutsRowsAndImagesTogether) {
  const std::vector<RebuiltKernel> kernels = {
      exported("gemm m=16 n=48 k=33 epilogue=bias+residual+relu", 10),
      exported("gemm m=1 n=48 k=33 epilogue=bias+residual+relu", 2),
      exported("conv2d n=1 h=14 w=13 c=8 k=12 r=3 s=3 pad=1 epilogue=bias+relu", 10)};
  FolderOptions with_buckets = options();
  with_buckets.buckets = {{"m", {16}}};
  const Folder folder(kernels, with_buckets);
  const Opened bundle(folder.path);
  EXPECT_EQ(expect_right(bundle.handle, "gemm m=34 n=48 k=33 epilogue=bias+residual+relu", 2).parts, 4u);
  // Sixteen rows, and sixteen from the fourteenth on; fewer than sixteen are padded.
  const lehr_kernel_info split =
      expect_right(bundle.handle, "gemm m=30 n=48 k=33 epilogue=bias+residual+relu", 2);
  EXPECT_EQ(split.answer, static_cast<std::uint32_t>(LEHR_SPLIT));
  EXPECT_DOUBLE_EQ(split.wasted, 1.0 / 16);
  const lehr_kernel_info padded =
      expect_right(bundle.handle, "gemm m=14 n=48 k=33 epilogue=bias+residual+relu", 2);
  EXPECT_EQ(padded.answer, static_cast<std::uint32_t>(LEHR_PADDED));
  EXPECT_DOUBLE_EQ(padded.wasted, 1.0 / 8);
  EXPECT_EQ(
      expect_right(bundle.handle, "conv2d n=3 h=14 w=13 c=8 k=12 r=3 s=3 pad=1 epilogue=bias+relu", 2).parts,
      3u);
  lehr_kernel kernel;
  EXPECT_EQ(lehr_find(bundle.handle, "gemm m=34 n=48 k=33 epilogue=bias+relu", nullptr, &kernel, nullptr),
            LEHR_NO_KERNEL);
}

/// Writes a folder's manifest anew, with a right hash of itself.
void write_manifest(const std::string& folder, nlohmann::json manifest) {
  const std::string digits(64, '0');
  manifest["sha256"] = digits;
  std::string text = manifest.dump(1);
  runtime::Sha256 hash;
  hash.add(text.data(), text.size());
  text.replace(text.rfind(digits), digits.size(), hash.hex().data());
  std::ofstream(folder + "/manifest.json") << text;
}

/// Every way to a value within a document that is no object and no array, or an array.
std::vector<nlohmann::json::json_pointer> ways_within(const nlohmann::json& document) {
  std::vector<nlohmann::json::json_pointer> ways;
  const std::function<void(const nlohmann::json&, const nlohmann::json::json_pointer&)> follow =
      [&](const nlohmann::json& value, const nlohmann::json::json_pointer& way) {
        ways.push_back(way);
        if (value.is_object())
          for (const auto& [key, member] : value.items()) follow(member, way / key);
        if (value.is_array())
          for (std::size_t at = 0; at < value.size(); ++at) follow(value[at], way / at);
      };
  follow(document, nlohmann::json::json_pointer());
  ways.erase(ways.begin());
  return ways;
}

/// Opens a folder and runs all that it opens, on the memory that it asks for: nothing ends the program.
void open_and_run(const std::string& path) {
  lehr_bundle bundle = 0;
  lehr_error error = {sizeof error, ""};
  if (lehr_open(path.c_str(), nullptr, &bundle, &error) != LEHR_OK) {
    EXPECT_NE(std::string(error.text), "");
    return;
  }
  std::uint32_t count = 0;
  lehr_count(bundle, &count, nullptr);
  for (std::uint32_t at = 0; at < count; ++at) {
    lehr_kernel kernel = 0;
    lehr_kernel_info info = {};
    info.size = sizeof info;
    EXPECT_EQ(lehr_at(bundle, at, &kernel, nullptr), LEHR_OK);
    EXPECT_EQ(lehr_info(kernel, &info, nullptr), LEHR_OK);
    std::vector<std::vector<Aligned>> memory(info.params + 1);
    std::vector<void*> params;
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < info.params; ++i) {
      lehr_param_info param = {};
      param.size = sizeof param;
      EXPECT_EQ(lehr_param(kernel, i, &param, nullptr), LEHR_OK);
      bytes += param.bytes;
      if (bytes > 1u << 28) break;
      memory[i].resize(param.bytes / 64 + 1);
      params.push_back(memory[i].data());
    }
    std::uint64_t scratch = 0;
    EXPECT_EQ(lehr_scratch_bytes(kernel, 1, &scratch, nullptr), LEHR_OK);
    if (params.size() != info.params || scratch > 1u << 28) continue;
    memory.back().resize(scratch / 64 + 1);
    const lehr_call call = {
        sizeof call, info.params, params.data(), memory.back().data(), scratch, 1, nullptr, nullptr, 0};
    if (lehr_prepack(kernel, &call, nullptr) == LEHR_OK) lehr_run(kernel, &call, nullptr);
  }
  lehr_close(bundle, nullptr);
}

// Who writes a manifest with a right hash of itself may have another opinion of its kernels.
TEST(BundleFolder, AManifestThatDoesNotGoWithItsLibrariesEndsNoProgram) {
  using nlohmann::json;
  const std::vector<RebuiltKernel> kernels = {
      exported("gemm m=16 n=50 k=33 b=f32:row:constant", 10, "gemm_cpu"), exported(kWorkloads[3], 2)};
  const Folder folder(kernels);
  std::ifstream file(folder.path + "/manifest.json");
  const json manifest = json::parse(file);
  open_and_run(folder.path);
  int refused = 0;
  const auto attempt = [&](const json& changed, const std::string& what) {
    SCOPED_TRACE(what);
    write_manifest(folder.path, changed);
    open_and_run(folder.path);
    ++refused;
  };
  for (const json::json_pointer& way : ways_within(manifest["kernels"])) {
    const json::json_pointer whole = json::json_pointer("/kernels") / way;
    const std::string key = way.back();
    if (whole.to_string().find("/self_test/") != std::string::npos) continue;
    const json value = manifest[whole];
    json changed = manifest;
    changed[whole.parent_pointer()].is_array()
        ? changed[whole.parent_pointer()].erase(std::stoul(key))
        : static_cast<void>(changed[whole.parent_pointer()].erase(key));
    attempt(changed, whole.to_string() + " is missing");
    std::vector<json> others = {nullptr, "a", json::array()};
    if (value.is_number_integer())
      for (const std::uint64_t number : {0ull, 1ull, 63ull, 1ull << 31, (1ull << 31) + 1, 1ull << 53})
        others.push_back(number);
    if (value.is_number_integer())
      others.insert(others.end(), {value.get<std::int64_t>() * 2, value.get<std::int64_t>() - 1, -1});
    if (value.is_array() && !value.empty())
      others.push_back(value.size() > 1 ? json{value[1], value[0]} : json{value[0], value[0]});
    if (value.is_string() && (key == "role"))
      others.insert(others.end(), {"in", "out", "prepacked", "workspace"});
    if (value.is_string() && (key == "dtype")) others.insert(others.end(), {"f64", "s8", "e4m3"});
    for (const json& other : others) {
      changed = manifest;
      changed[whole] = other;
      attempt(changed, whole.to_string() + " is " + other.dump());
    }
  }
  EXPECT_GT(refused, 500);
  // Those that would read or write what is not theirs say so.
  const auto expect_refused = [&](const char* way, const json& value) {
    json changed = manifest;
    changed[json::json_pointer(way)] = value;
    write_manifest(folder.path, changed);
    lehr_bundle bundle = 0;
    lehr_error error = {sizeof error, ""};
    EXPECT_EQ(lehr_open(folder.path.c_str(), nullptr, &bundle, &error), LEHR_BAD_BUNDLE) << way;
    EXPECT_THAT(std::string(error.text), HasSubstr("has other parameters or steps than the manifest says"));
  };
  expect_refused("/kernels/0/steps/0/tasks", 1ull << 53);
  expect_refused("/kernels/0/steps/0/tasks", manifest["kernels"][0]["steps"][0]["tasks"].get<int>() + 1);
  expect_refused("/kernels/0/prepack/tasks", 77777);
  expect_refused("/kernels/0/prepack/reads", json{0});
  expect_refused("/kernels/0/params/1/bytes", 4);
  expect_refused("/kernels/0/params/0/alignment", 1);
  expect_refused("/kernels/1/scratch_bytes", manifest["kernels"][1]["scratch_bytes"].get<int>() + 64);
  write_manifest(folder.path, manifest);
  open_and_run(folder.path);
}

TEST(BundleFolder, TellsTheShapesOfOutputs) {
  const auto sizes = [](const char* text) {
    std::vector<std::int64_t> numbers;
    for (const Dimension& one : output_shape(parse_workload(text))) numbers.push_back(one.size);
    return numbers;
  };
  EXPECT_THAT(sizes("gemm m=3 n=5 k=7"), ElementsAre(3, 5));
  EXPECT_THAT(sizes("gemm m=3 n=5 k=7 batch=2"), ElementsAre(2, 3, 5));
  EXPECT_THAT(sizes("gemm m=3 n=10 k=7 epilogue=swiglu"), ElementsAre(3, 5));
  EXPECT_THAT(sizes("conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3"), ElementsAre(2, 6, 7, 6));
  EXPECT_THAT(sizes("conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3 layout=nhwc"), ElementsAre(2, 7, 6, 6));
  EXPECT_THAT(sizes("conv2d h=8 w=8 c=4 k=6 r=1 s=1 epilogue=relu+maxpool(2,2)"), ElementsAre(1, 6, 4, 4));
  for (const char* text : {"gemm m=3 n=5 k=7 batch=2 c=f32:column", "conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3"}) {
    const Workload workload = parse_workload(text);
    std::int64_t elements = 1, last = 0;
    for (const Dimension& one : output_shape(workload)) {
      elements *= one.size;
      last += (one.size - 1) * one.stride;
    }
    EXPECT_EQ(last, elements - 1) << text;
  }
  EXPECT_EQ(output_shape(parse_workload("gemm m=3 n=5 k=7 c=f32:column"))[1].stride, 3);
}

// A linear layer's weights are laid out once for kernels of other numbers of rows, whatever their tiles are.
TEST(BundleFolder, RowsShareAConstantBThatIsLaidOutOnce) {
  const std::string rest = " n=50 k=33 b=f32:column:constant epilogue=bias+relu";
  const std::vector<RebuiltKernel> kernels = {exported(("gemm m=16" + rest).c_str(), 10, "gemm_cpu"),
                                              exported(("gemm m=1" + rest).c_str(), 2, "gemm_cpu"),
                                              exported(("gemm m=2" + rest).c_str(), 9, "gemm_dot_cpu")};
  EXPECT_EQ(kernels[2].source.launch.prepack_parts, 0);
  EXPECT_NE(kernels[0].winner.record.config.at("mr"), kernels[1].winner.record.config.at("mr"));
  const Folder folder(kernels);
  const Opened bundle(folder.path);
  const std::string asked = "gemm m=34" + rest;
  EXPECT_EQ(expect_right(bundle.handle, asked, 2).parts, 4u);
  lehr_kernel kernel = 0;
  ASSERT_EQ(lehr_find(bundle.handle, asked.c_str(), nullptr, &kernel, nullptr), LEHR_OK);
  std::vector<std::string> constant, prepacked;
  for (std::uint32_t i = 0; i < 5; ++i) {
    lehr_param_info param = {};
    param.size = sizeof param;
    ASSERT_EQ(lehr_param(kernel, i, &param, nullptr), LEHR_OK);
    if (param.constant != 0) constant.push_back(param.name);
    if (param.role == LEHR_PREPACKED) prepacked.push_back(param.name);
  }
  EXPECT_THAT(constant, ElementsAre("b"));
  EXPECT_THAT(prepacked, ElementsAre("u"));
  expect_right(bundle.handle, "gemm m=1" + rest, 2);
  // One that reads B as it lies says so of B, too: callers need not know which it is.
  expect_right(bundle.handle, "gemm m=2" + rest, 2);
  ASSERT_EQ(lehr_find(bundle.handle, ("gemm m=2" + rest).c_str(), nullptr, &kernel, nullptr), LEHR_OK);
  lehr_param_info b = {};
  b.size = sizeof b;
  ASSERT_EQ(lehr_param(kernel, 1, &b, nullptr), LEHR_OK);
  EXPECT_EQ(b.constant, 1u);
  EXPECT_EQ(lehr_find(bundle.handle, "gemm m=34 n=50 k=33 b=f32:column epilogue=bias+relu", nullptr, &kernel,
                      nullptr),
            LEHR_NO_KERNEL);
}

TEST(BundleFolder, TheSameKernelsGiveTheSameBytes) {
  const std::vector<RebuiltKernel> kernels = {exported(kWorkloads[0], 1), exported(kWorkloads[3], 2)};
  const std::vector<FolderFile> first = files_of(kernels, options()), second = files_of(kernels, options());
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].path, second[i].path);
    EXPECT_TRUE(first[i].bytes == second[i].bytes) << first[i].path;
  }
}

// A loader takes two libraries of one name for the same: what was compiled otherwise must have another one.
TEST(BundleFolder, NamesKernelsByAllThatTheyAreMadeOf) {
  const RebuiltKernel kernel = exported(kWorkloads[0], 1);
  const std::string name = deployed_name(kernel.source, "g++ 12");
  EXPECT_EQ(deployed_name(kernel.source, "g++ 12"), name);
  EXPECT_NE(deployed_name(kernel.source, "g++ 13"), name);
  Source other = kernel.source;
  other.launch.parts += 1;
  EXPECT_NE(deployed_name(other, "g++ 12"), name);
}

TEST(BundleFolder, HoldsAKernelOfTwoWinnersOnce) {
  RebuiltKernel one = exported(kWorkloads[0], 9), two = one;
  two.winner.device->limits.cores = 1;
  const Folder folder(std::array{one, two});
  const Opened bundle(folder.path);
  std::uint32_t count = 0;
  EXPECT_EQ(lehr_count(bundle.handle, &count, nullptr), LEHR_OK);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path + "/kernels"), {}), 1);
  expect_right(bundle.handle, kWorkloads[0], 1);
}

TEST(BundleFolder, BucketsAreSizesThatItHas) {
  const std::array kernels = {exported(kWorkloads[0], 1)};
  check_buckets(kernels, std::array{Buckets{"m", {64}}});
  for (const Buckets& wrong : {Buckets{"m", {64, 63}}, Buckets{"n", {48}}, Buckets{"x", {1}}})
    EXPECT_THROW(check_buckets(kernels, std::array{wrong}), Error);
}

TEST(BundleFolder, SaysWhichWordsGoWithoutSaying) {
  EXPECT_EQ(optional_words(parse_workload("gemm m=2 n=3 k=4")),
            "epilogue=none accum=f32 c=f32:row b=f32:row a=f32:row batch=1");
  EXPECT_EQ(optional_words(parse_workload("gemm m=2 n=3 k=4 a=bf16 c=f32 epilogue=relu")),
            "accum=f32 c=f32:row b=f32:row batch=1");
}

TEST(BundleFolder, KnowsShorterWords) {
  EXPECT_EQ(shorter_words(parse_workload("gemm m=2 n=3 k=4 b=f32:column")), "a=f32 c=f32");
  EXPECT_EQ(shorter_words(parse_workload("conv2d h=8 w=8 c=1 k=1 r=3 s=3 pad=1 stride=2x1 dilation=2")),
            "pad=1 pad=1x1 dilation=2");
}

std::vector<std::string> features_at(const Isa& isa) {
  HostCompilerOptions options;
  options.isa = isa;
  return features_of(HostCompiler(options).macros());
}

#if defined(__x86_64__)

// The System V ABI's supplement for x86-64, section 3.1.1, but for what only the operating system uses.
TEST(IsaLevels, UseWhatTheAbiSays) {
  const auto features = [](const char* name) { return features_at(isa_named(name)); };
  std::vector<std::string> expected;
  EXPECT_THAT(features("x86-64"), ::testing::UnorderedElementsAreArray(expected));
  for (const char* one : {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"}) expected.emplace_back(one);
  EXPECT_THAT(features("x86-64-v2"), ::testing::UnorderedElementsAreArray(expected));
  for (const char* one : {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
    expected.emplace_back(one);
  EXPECT_THAT(features("x86-64-v3"), ::testing::UnorderedElementsAreArray(expected));
  for (const char* one : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    expected.emplace_back(one);
  EXPECT_THAT(features("x86-64-v4"), ::testing::UnorderedElementsAreArray(expected));
}

lehr_status open_with(const std::string& path, const std::vector<std::string>& features, lehr_bundle* bundle,
                      lehr_error* error) {
  std::string text;
  for (const std::string& feature : features) text += feature + " ";
  const lehr_open_options some = {sizeof some, text.c_str(), 1, 0};
  return lehr_open(path.c_str(), &some, bundle, error);
}

// Whatever the text uses: a compiler may use what it is told of in any kernel.
TEST(IsaFeatures, AreAskedForByTheKernelsThatWereCompiledWithThem) {
  const Isa level = isa_named("x86-64-v4"), more = isa_named("x86-64-v4+avx512vnni");
  const Folder folder(
      std::array{exported(kWorkloads[0], 20, nullptr, level), exported(kWorkloads[0], 10, nullptr, more)});
  std::ifstream file(folder.path + "/manifest.json");
  const nlohmann::json manifest = nlohmann::json::parse(file);
  ASSERT_EQ(manifest["kernels"].size(), 2u);
  int with = 0;
  for (const nlohmann::json& kernel : manifest["kernels"]) {
    const auto features = kernel["features"].get<std::vector<std::string>>();
    const bool has = std::ranges::find(features, "avx512vnni") != features.end();
    EXPECT_EQ(has, kernel["time_us"] == 10);
    with += has;
  }
  EXPECT_EQ(with, 1);
  lehr_error error = {sizeof error, ""};
  lehr_bundle bundle = 0;
  if (open_with(folder.path, features_at(level), &bundle, &error) == LEHR_OK) {
    EXPECT_DOUBLE_EQ(expect_right(bundle, kWorkloads[0], 2).time_us, 20);
    lehr_close(bundle, nullptr);
  } else {  // this processor runs neither
    EXPECT_THAT(std::string(error.text), HasSubstr("needs avx512"));
  }
}

// A machine of today without AVX2 is one of v2 alone: then there is nothing to choose from.
TEST(IsaLevels, OneBundleServesMachinesOfEach) {
  const Isa v2 = isa_named("x86-64-v2"), v3 = isa_named("x86-64-v3");
  for (const std::string& feature : features_at(v3))
    if ((runtime::cpu_feature_named(feature) & runtime::cpu_features_here()) == 0)
      GTEST_SKIP() << "this processor has no " << feature;
  const std::array kernels = {exported(kWorkloads[0], 20, nullptr, v2),
                              exported(kWorkloads[0], 10, nullptr, v3),
                              exported(kWorkloads[2], 3, nullptr, v3)};
  const Folder folder(kernels);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path + "/kernels"), {}), 3);
  lehr_error error = {sizeof error, ""};
  {
    const Opened all(folder.path);
    EXPECT_DOUBLE_EQ(expect_right(all.handle, kWorkloads[0], 2).time_us, 10);
  }
  lehr_bundle older = 0;
  ASSERT_EQ(open_with(folder.path, features_at(v2), &older, &error), LEHR_OK) << error.text;
  EXPECT_DOUBLE_EQ(expect_right(older, kWorkloads[0], 2).time_us, 20);
  lehr_kernel kernel = 0;
  EXPECT_EQ(lehr_find(older, kWorkloads[2], nullptr, &kernel, &error), LEHR_NO_KERNEL);
  EXPECT_THAT(std::string(error.text), ::testing::ContainsRegex("needs [a-z0-9]+, which is not there"));
  lehr_close(older, nullptr);
}

TEST(IsaLevels, EachSourceHasFlagsOfItsOwn) {
  const Isa v2 = isa_named("x86-64-v2"), v3 = isa_named("x86-64-v3");
  if (cpu_device(1, false).limits.vector_bytes < 32) GTEST_SKIP() << "this processor has no AVX2";
  FolderOptions sources = options();
  sources.embed = true;
  const std::vector<FolderFile> files =
      files_of(std::array{exported(kWorkloads[0], 20, nullptr, v2), exported(kWorkloads[0], 10, nullptr, v3)},
               sources);
  const auto cmake = std::ranges::find(files, "CMakeLists.txt", &FolderFile::path);
  ASSERT_NE(cmake, files.end());
  int lines = 0, with_avx2 = 0;
  std::istringstream text(cmake->bytes);
  for (std::string line; std::getline(text, line);) {
    lines += line.find("COMPILE_OPTIONS") != std::string::npos;
    with_avx2 += line.find(";-mavx2") != std::string::npos;
  }
  EXPECT_EQ(lines, 2);
  EXPECT_EQ(with_avx2, 1);
}

#endif

TEST(IsaLevels, UseMoreTheHigherTheyAre) {
  std::vector<std::string> lower;
  for (const IsaLevel& level : archs_of(Target::kCpu).levels) {
    if (level.machine != runtime::cpu_machine()) continue;
    std::vector<std::string> features = features_at({&level});
    std::ranges::sort(features);
    EXPECT_TRUE(std::ranges::includes(features, lower)) << level.name;
    lower = std::move(features);
  }
}

TEST(Slices, AreRowsOfProductsAndImagesOfBatches) {
  const auto gemm = slices_of(parse_workload("gemm m=8 n=3 k=5 epilogue=bias+residual"));
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->field, "m");
  EXPECT_EQ(gemm->count, 8);
  EXPECT_THAT(gemm->elements, ElementsAre(5, 0, 3, 0, 3));
  EXPECT_EQ(slices_of(parse_workload("gemm m=..8 n=3 k=5"))->count, 8);
  EXPECT_EQ(slices_of(parse_workload("gemm m=..8 n=3 k=5 rows=3"))->count, 3);
  EXPECT_EQ(slices_of(parse_workload("gemm m=2..8 n=3 k=5"))->count, 8);
  EXPECT_FALSE(slices_of(parse_workload("gemm m=8 n=3 k=5 a=f32:column")));
  EXPECT_FALSE(slices_of(parse_workload("gemm m=8 n=3 k=5 batch=2")));
  const auto conv =
      slices_of(parse_workload("conv2d n=4 h=6 w=5 c=2 k=3 r=3 s=3 pad=1 epilogue=bias+relu+maxpool(2)"));
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->field, "n");
  EXPECT_THAT(conv->elements, ElementsAre(60, 0, 18, 0));
}

}  // namespace
}  // namespace lehr
