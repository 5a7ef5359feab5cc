// Bundles whose kernels are told the number of rows: every number of them, alone and in sets, as a product
// calls them, against the reference and on memory that ends with the last row.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/core/check.h"
#include "measure/core/element.h"
#include "runtime/manifest.h"
#include "templates/catalog.h"
#include "tests/deploy/exported.h"
#include "tests/support/guarded.h"
#include "tests/support/problem_for.h"
#include "workload/operator.h"

namespace lehr {
namespace {

using lehr::testing::Aligned;
using lehr::testing::exported;
using lehr::testing::Folder;
using lehr::testing::Guarded;
using lehr::testing::Opened;
using lehr::testing::options;
using ::testing::HasSubstr;

lehr_kernel found(lehr_bundle bundle, const std::string& text) {
  lehr_error error = {sizeof error, ""};
  lehr_kernel kernel = 0;
  EXPECT_EQ(lehr_find(bundle, text.c_str(), nullptr, &kernel, &error), LEHR_OK) << error.text;
  return kernel;
}

lehr_kernel_info info_of(lehr_kernel kernel) {
  lehr_kernel_info info = {};
  info.size = sizeof info;
  EXPECT_EQ(lehr_info(kernel, &info, nullptr), LEHR_OK);
  return info;
}

lehr_param_info param_of(lehr_kernel kernel, std::uint32_t index) {
  lehr_param_info param = {};
  param.size = sizeof param;
  EXPECT_EQ(lehr_param(kernel, index, &param, nullptr), LEHR_OK);
  return param;
}

/// Memory for what a product prepacks once.
using Prepacked = std::vector<std::vector<Aligned>>;

/// One call, of as many rows as `workload` has; `stated`: the handle is told so. `prepacked`: filled where
/// it is empty, else used as it is.
void expect_right(lehr_kernel kernel, bool stated, const Workload& workload, std::uint32_t workers,
                  Prepacked& prepacked) {
  SCOPED_TRACE(fmt::format("{}{}, {} workers", to_text(workload), stated ? ", stated" : "", workers));
  const Problem problem = problem_for(workload, 9);
  const auto rows = static_cast<std::uint64_t>(rows_of(workload));
  const lehr_kernel_info info = info_of(kernel);
  const bool first = prepacked.empty();
  std::vector<Guarded> tensors;
  std::vector<void*> params;
  std::size_t behind = 0;
  for (std::uint32_t i = 0; i < info.params; ++i) {
    const lehr_param_info param = param_of(kernel, i);
    if (param.role == LEHR_PREPACKED) {
      if (first) prepacked.emplace_back(param.bytes / 64 + 1);
      params.push_back(prepacked.at(behind++).data());
      continue;
    }
    const ProblemTensor& tensor = problem.tensors.at(i);
    Guarded& memory = tensors.emplace_back(static_cast<std::size_t>(tensor.elements * size_of(tensor.type)));
    EXPECT_EQ(stated && param.row_bytes > 0 ? rows * param.row_bytes : param.bytes, memory.size())
        << param.name;
    std::fill_n(memory.data(), memory.size(), kPoisonByte);
    if (!tensor.output) store_elements(tensor.type, tensor.values, memory.data());
    params.push_back(memory.data());
  }
  lehr_error error = {sizeof error, ""};
  std::uint64_t bytes = 0;
  ASSERT_EQ(lehr_scratch_bytes(kernel, workers, &bytes, &error), LEHR_OK) << error.text;
  std::vector<Aligned> scratch(bytes / 64 + 1);
  lehr_pool* pool = nullptr;
  ASSERT_EQ(lehr_pool_create(workers, &pool, nullptr), LEHR_OK);
  lehr_call call = {};
  call.size = sizeof call;
  call.param_count = info.params;
  call.params = params.data();
  call.scratch = scratch.data();
  call.scratch_bytes = bytes;
  call.workers = workers;
  call.parallel_for = &lehr_pool_run;
  call.pool = pool;
  call.rows = stated ? rows : 0;
  if (first) {
    ASSERT_EQ(lehr_prepack(kernel, &call, &error), LEHR_OK) << error.text;
  }
  const auto run = [&] { EXPECT_EQ(lehr_run(kernel, &call, &error), LEHR_OK) << error.text; };
  if (workers == 1)  // a jump out of another thread's handler would not end there
    EXPECT_TRUE(lehr::testing::touches_nothing_else(run)) << "reads or writes behind a tensor's end";
  else
    run();
  lehr_pool_destroy(pool);
  for (const Guarded& memory : tensors) EXPECT_TRUE(memory.intact()) << "writes before a tensor's begin";
  EXPECT_EQ(compare_output(problem, tensors[output_of(problem)].data()).fault, "");
}

/// The text of the same product with that in the place of its rows.
std::string with_m(const std::string& text, const std::string& m) {
  const std::size_t begin = text.find("m=") + 2;
  return std::string(text).replace(begin, text.find(' ', begin) - begin, m);
}

/// Of a bundle's answers for the range `text` and each of its rows.
void expect_right_for_every_number(lehr_bundle bundle, const std::string& text) {
  SCOPED_TRACE(text);
  const Workload workload = parse_workload(text);
  const lehr_kernel open = found(bundle, text);
  const lehr_kernel_info info = info_of(open);
  EXPECT_EQ(info.most_rows, static_cast<std::uint64_t>(workload.gemm().m));
  for (std::int64_t rows = static_cast<std::int64_t>(info.least_rows); rows <= workload.gemm().m; ++rows) {
    const Workload fixed = with_rows(workload, rows);
    const lehr_kernel bound = found(bundle, with_m(text, std::to_string(rows)));
    EXPECT_EQ(info_of(bound).answer, static_cast<std::uint32_t>(LEHR_EXACT));
    for (const std::uint32_t workers : {1u, 3u}) {
      if (workers > 1 && rows % 7 != 0) continue;
      Prepacked own, open_one;
      expect_right(bound, false, fixed, workers, own);
      expect_right(open, true, fixed, workers, open_one);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

const std::vector<std::string> kTexts = {
    "gemm m=..70 n=50 k=33 b=f32:column:constant epilogue=bias+residual+relu",
    "gemm m=..67 n=21 k=40 b=f32:column",
    "gemm m=..70 n=24 k=31 a=bf16 b=bf16:row:constant c=bf16 epilogue=bias+swiglu",
    "gemm m=..40 n=19 k=35 a=u8 b=s8:column:constant c=u8 accum=s32 zero=input "
    "epilogue=bias+dequant+residual(u8)+relu+quant",
    "gemm m=..1 n=5 k=7"};

const std::string kRange = "gemm m=1..48 n=50 k=33 b=f32:row:constant epilogue=bias+residual+relu";

/// Kernels of these texts, and of the range: one for one row, and two that are told their number, of other
/// tiles, the first one twice. Of one folder: compiling its library takes longer than anything else here.
const Folder& folder() {
  static const Folder kFolder = [] {
    std::vector<RebuiltKernel> kernels;
    for (const std::string& text : kTexts)
      kernels.push_back(exported(text, 10, text == kTexts[1] ? "gemm_dot_cpu" : "gemm_cpu"));
    const std::size_t first = kernels.size();
    const std::string any = with_m(kRange, "..48");
    const auto [usual, other] = lehr::testing::two_tiles(any);
    kernels.push_back(exported(with_m(kRange, "1"), 3, "gemv_cpu"));
    kernels.push_back(exported(any, 20, usual));
    kernels.push_back(exported(any, 9, other));
    EXPECT_NE(kernels[first + 1].source.text, kernels[first + 2].source.text);
    RebuiltSet set;
    set.workload = parse_workload(kRange);
    set.members = {{first, 1}, {first + 1, 5}, {first + 2, 17}, {first + 1, 48}};
    set.times = {{1, 3}, {5, 8}, {17, 9}, {48, 20}};
    return Folder(kernels, options(), {set});
  }();
  return kFolder;
}

TEST(RowsOfABundle, AreRightForEveryNumber) {
  const Opened bundle(folder().path);
  for (const std::string& text : kTexts) expect_right_for_every_number(bundle.handle, text);
}

TEST(SetsOfABundle, AreRightForEveryNumber) {
  const Opened bundle(folder().path);
  expect_right_for_every_number(bundle.handle, kRange);
  const auto name_at = [&](std::int64_t rows) {
    return std::string(info_of(found(bundle.handle, with_m(kRange, std::to_string(rows)))).name);
  };
  const std::string names[] = {name_at(1), name_at(2), name_at(6)};
  EXPECT_NE(names[0], names[1]);
  EXPECT_NE(names[1], names[2]);
  for (std::int64_t rows = 1; rows <= 48; ++rows)
    EXPECT_EQ(name_at(rows), rows == 1 ? names[0] : rows <= 5 || rows > 17 ? names[1] : names[2]) << rows;
  EXPECT_DOUBLE_EQ(info_of(found(bundle.handle, with_m(kRange, "11"))).time_us, 8.5);
  lehr_kernel none = 0;
  EXPECT_EQ(lehr_find(bundle.handle, with_m(kRange, "1..49").c_str(), nullptr, &none, nullptr),
            LEHR_NO_KERNEL);
}

// What a product prepacks for one number of rows serves all of them.
TEST(SetsOfABundle, LayAConstantBOutOnce) {
  const Opened bundle(folder().path);
  const Workload workload = parse_workload(kRange);
  // Inputs are drawn tensor by tensor: B, the second one, is the same for every number of rows.
  const auto weights = [&](std::int64_t rows) { return make_inputs(with_rows(workload, rows), 9)[1]; };
  ASSERT_EQ(weights(3), weights(48));
  Prepacked prepacked;
  const lehr_kernel open = found(bundle.handle, kRange);
  for (const std::int64_t rows : {48, 1, 2, 5, 6, 17, 18, 47}) {
    expect_right(open, true, with_rows(workload, rows), 1, prepacked);
    expect_right(found(bundle.handle, with_m(kRange, std::to_string(rows))), false, with_rows(workload, rows),
                 1, prepacked);
  }
}

// The library of another version of the manifest, which is asked for nothing but that.
std::string refused_by(const std::string& folder, std::string library, std::uint64_t version) {
  const std::string now = fmt::format("kManifestVersion = {};", runtime::kManifestVersion);
  const std::size_t at = library.find(now);
  EXPECT_NE(at, std::string::npos);
  library.replace(at, now.size(), fmt::format("kManifestVersion = {};", version));
  const TempDir directory;
  std::ofstream(directory.path() + "/library.cpp") << library;
  const std::string command =
      fmt::format("g++ -std=c++20 -O0 -w -fPIC -shared -I {1}/include -o {0}/library.so {0}/library.cpp",
                  directory.path(), folder);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  void* const loaded = ::dlopen((directory.path() + "/library.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(loaded, nullptr) << ::dlerror();
  const auto open = reinterpret_cast<decltype(&lehr_open)>(::dlsym(loaded, "lehr_open"));
  lehr_error error = {sizeof error, ""};
  lehr_bundle bundle = 0;
  EXPECT_EQ(open(folder.c_str(), nullptr, &bundle, &error), LEHR_BAD_BUNDLE);
  ::dlclose(loaded);
  return error.text;
}

TEST(RowsOfABundle, AreRefusedByLibrariesThatDoNotKnowThem) {
  std::ifstream file(folder().path + "/sources/lehr_bundle.cpp");
  const std::string library((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(refused_by(folder().path, library, 1),
              HasSubstr("is of a newer version than this library reads"));
}

}  // namespace
}  // namespace lehr
