// What manifest.json says, to the byte: a bundle without kernels that are told the number of rows is read by
// every library that there has been.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "deploy/bundle_folder.h"
#include "deploy/self_test.h"
#include "runtime/cpu_features.h"
#include "runtime/lehr_bundle.h"

namespace lehr {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// A kernel as no template makes one, so that none changes it.
FolderKernel handmade(const char* text, std::int64_t most_rows) {
  FolderKernel kernel;
  kernel.name = "product_0123456789abcdef";
  kernel.features = {"avx", "fma"};
  kernel.library = "a library";
  RebuiltKernel& rebuilt = kernel.rebuilt;
  rebuilt.workload = of_any_call(parse_workload(text));
  Record& record = rebuilt.winner.record;
  record.id = "42";
  record.workload = text;
  record.device = "cpu this";
  record.target = "cpu";
  record.arch = "avx2";
  record.config = parse_config("product(tile=4)");
  record.template_version = 7;
  Timing timing;
  timing.max_error = 0.25;
  record.outcome = timing;
  rebuilt.winner.verdict.best = {12.5, {12, 13}};
  StoredDevice device;
  device.limits.target = Target::kCpu;
  device.limits.cores = 2;
  rebuilt.winner.device = device;
  Source& source = rebuilt.source;
  source.target = Target::kCpu;
  source.text = "void product_prepack(void* const* params, void* scratch, long task) {}";
  source.entry = "product";
  const Gemm& gemm = rebuilt.workload.gemm();
  source.params = {{"a", DType::kF32, gemm.m * gemm.k, ir::Direction::kIn},
                   {"b", DType::kF32, gemm.k * gemm.n, ir::Direction::kIn},
                   {"c", DType::kF32, gemm.m * gemm.n, ir::Direction::kOut},
                   {"u", DType::kF32, gemm.k * gemm.n, ir::Direction::kPrepacked}};
  source.launch.parts = 3;
  source.launch.prepack_parts = 2;
  source.scratch_bytes = 192;
  source.most_rows = most_rows;
  return kernel;
}

std::string manifest_of(const std::vector<FolderKernel>& kernels, const std::vector<RebuiltSet>& sets) {
  const std::vector<FolderFile> files = libraries_of(kernels);
  const FolderFile library = {"liblehr_bundle.so", "another library"};
  const std::vector<Buckets> buckets = {{"m", {2}}};
  return manifest_text(kernels, sets, files, &library, buckets, "test");
}

constexpr const char* kFixed =
    "gemm m=2 n=2 k=3 batch=1 a=f32:row b=f32:row:constant c=f32:row accum=f32 epilogue=none";

// As it was before there were others.
constexpr const char* kVersion1 = R"json({
 "files": {
  "kernels/product_0123456789abcdef.so": "31f109ab38348582abdc9e1c9942f74505c719e98c6d0ab6fbcfdccfd8c9935b"
 },
 "format": "lehr-bundle-folder",
 "kernels": [
  {
   "arch": "avx2",
   "baseline": "",
   "cold": false,
   "config": "product(tile=4)",
   "contested": false,
   "defaults": "epilogue=none accum=f32 c=f32:row a=f32:row batch=1",
   "deterministic": null,
   "device": "cpu this",
   "features": [
    "avx",
    "fma"
   ],
   "file": "kernels/product_0123456789abcdef.so",
   "machine": "x86_64",
   "max_error": 0.25,
   "merged_from": "",
   "name": "product_0123456789abcdef",
   "params": [
    {
     "alignment": 4,
     "bytes": 24,
     "dtype": "f32",
     "name": "a",
     "role": "in",
     "slice_bytes": 12
    },
    {
     "alignment": 4,
     "bytes": 24,
     "constant": true,
     "dtype": "f32",
     "name": "b",
     "role": "in",
     "slice_bytes": 0
    },
    {
     "alignment": 4,
     "bytes": 16,
     "dtype": "f32",
     "name": "c",
     "role": "out",
     "shape": [
      2,
      2
     ],
     "slice_bytes": 8,
     "strides": [
      2,
      1
     ]
    },
    {
     "alignment": 64,
     "bytes": 24,
     "dtype": "f32",
     "name": "u",
     "role": "prepacked",
     "slice_bytes": 0
    }
   ],
   "prepack": {
    "entry": "product_0123456789abcdef_prepack",
    "layout": "e1c029cb8b998d9c",
    "reads": [],
    "tasks": 2
   },
   "record": "42",
   "scratch_bytes": 192,
   "self_test": {
    "output": [
     [
      0,
      0.578125
     ],
     [
      1,
      -1.890625
     ],
     [
      2,
      0.671875
     ],
     [
      3,
      -0.765625
     ]
    ],
    "tolerance": 3.5286216669254424e-06
   },
   "shorter": "a=f32 c=f32",
   "slices": {
    "bucket": true,
    "field": "m",
    "size": 2
   },
   "source": "sources/product_0123456789abcdef.cpp",
   "speedup_vs_baseline": 0.0,
   "speedup_vs_default": 0.0,
   "steps": [
    {
     "entry": "product_0123456789abcdef",
     "tasks": 3
    }
   ],
   "target": "cpu",
   "template": "product",
   "template_version": 7,
   "threads": 2,
   "time_us": 12.5,
   "time_us_interval": [
    12.0,
    13.0
   ],
   "workload": "gemm m=2 n=2 k=3 batch=1 a=f32:row b=f32:row:constant c=f32:row accum=f32 epilogue=none"
  }
 ],
 "library": {
  "liblehr_bundle.so": "8450b4c5fbdac3a99d72a55131e8e20cc2ba850333c64a30c244a392f543b058"
 },
 "tool_version": "test",
 "version": 1,
 "sha256": "c52d002ad7c78ff5f3dbe71849862d670ba1b3565fdfd0cec7f97188ead621d7"
}
)json";

TEST(Manifest, IsOfVersion1WithoutKernelsThatAreToldTheNumberOfRows) {
  if (runtime::cpu_machine() != "x86_64") GTEST_SKIP() << "the machine's name is in it";
  EXPECT_EQ(manifest_of({handmade(kFixed, 0)}, {}), kVersion1);
}

TEST(Manifest, IsOfVersion2WithKernelsThatAreToldTheNumberOfRows) {
  const std::string rest = " n=2 k=3 batch=1 a=f32:row b=f32:row:constant c=f32:row accum=f32 epilogue=none";
  const std::string any = "gemm m=..64" + rest, range = "gemm m=1..64" + rest;
  RebuiltSet set;
  set.workload = parse_workload(range);
  set.times = {{1, 2.5}, {64, 20}};
  FolderKernel source_alone = handmade(kFixed, 0);
  source_alone.source_alone = true;
  set.members = {{0, 2}, {2, 64}};
  const FolderKernel told = handmade((any + " rows=24").c_str(), 64);
  const json manifest = json::parse(manifest_of({handmade(kFixed, 0), source_alone, told}, {set}));
  EXPECT_EQ(manifest["version"], 2);
  EXPECT_EQ(manifest["sets"], json::parse(R"([{"workload": ")" + range + R"(",
      "defaults": "epilogue=none accum=f32 c=f32:row a=f32:row batch=1", "shorter": "a=f32 c=f32",
      "field": "m", "least": 1, "most": 64, "threads": 2,
      "members": [{"kernel": 0, "to": 2}, {"kernel": 1, "to": 64}], "times": [[1, 2.5], [64, 20.0]]}])"));
  const json& fixed = manifest["kernels"][0];
  EXPECT_FALSE(fixed.contains("rows"));
  EXPECT_FALSE(fixed["self_test"].contains("rows"));
  const json& kernel = manifest["kernels"][1];
  EXPECT_EQ(kernel["workload"], any) << "whatever number of rows was timed";
  EXPECT_EQ(kernel["rows"], 64);
  EXPECT_EQ(kernel["slices"], json::parse(R"({"field": "m", "size": 64, "bucket": false})"));
  EXPECT_EQ(kernel["params"][0]["bytes"], 64 * 3 * 4);
  EXPECT_EQ(kernel["params"][0]["slice_bytes"], 3 * 4);
  EXPECT_EQ(kernel["self_test"]["rows"], 61) << "no tile's height divides it";
  EXPECT_EQ(kernel["self_test"]["output"].back()[0], 61 * 2 - 1);
}

TEST(Manifest, TestsANumberOfRowsThatIsNotTheMost) {
  const auto rows = [](int most) {
    return self_test_of(parse_workload(fmt::format("gemm m=..{} n=2 k=3", most)))->rows;
  };
  EXPECT_EQ(rows(1), 1);
  EXPECT_EQ(rows(2), 1);
  EXPECT_EQ(rows(3), 2);
  EXPECT_EQ(rows(61), 59);
  EXPECT_EQ(rows(4096), 61);
  EXPECT_EQ(self_test_of(parse_workload("gemm m=64 n=2 k=3"))->rows, 0);
}

std::string call_number_of(const FolderKernel& kernel) {
  const std::string text = deployed_text(kernel.rebuilt, kernel.name);
  const std::size_t at = text.find("_call = ");
  return text.substr(at, text.find(';', at) - at);
}

TEST(Manifest, AKernelsNumberKnowsTheMostRows) {
  const FolderKernel fixed = handmade(kFixed, 0), two = handmade(kFixed, 2), three = handmade(kFixed, 3);
  EXPECT_EQ(call_number_of(fixed), "_call = 9090459140523139821u");
  EXPECT_NE(call_number_of(two), call_number_of(fixed));
  EXPECT_NE(call_number_of(two), call_number_of(three));
}

}  // namespace
}  // namespace lehr
