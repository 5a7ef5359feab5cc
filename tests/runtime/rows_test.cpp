// Kernels that are told their number of rows, and sets of them for a range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "folder_support.h"
#include "runtime/lehr_bundle.h"
#include "runtime/self_test.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kRange = "scale m=1..64 width=4";

/// A bundle of a set for 1 to 64 rows: one row by a fixed kernel, up to 8 by one that reads W as it lies, up
/// to 20 and to 64 by others.
class Rows : public ::testing::Test {
 protected:
  Rows() {
    add_scale(folder_, 1, 3);
    add_told_scale(folder_, 64, 40);
    add_told_scale(folder_, 8, 9, true);
    add_told_scale(folder_, 20, 12);
    add_scale_set(folder_, 1, {{0, 1}, {2, 8}, {3, 20}, {1, 64}}, {{1, 3.0}, {8, 10.0}, {64, 38.0}});
  }
  ~Rows() override {
    if (bundle_ != 0) {
      EXPECT_EQ(lehr_close(bundle_, nullptr), LEHR_OK);
    }
  }

  void open(const lehr_open_options* options = nullptr) {
    folder_.seal();
    lehr_error error = {sizeof error, ""};
    ASSERT_EQ(lehr_open(folder_.path().c_str(), options, &bundle_, &error), LEHR_OK) << error.text;
  }
  lehr_kernel find(const std::string& workload, std::uint32_t threads = 0) const {
    const lehr_find_options options = {sizeof options, threads, 0, LEHR_ANY_TARGET};
    lehr_kernel kernel = 0;
    lehr_error error = {sizeof error, ""};
    EXPECT_EQ(lehr_find(bundle_, workload.c_str(), &options, &kernel, &error), LEHR_OK) << error.text;
    return kernel;
  }
  std::string why_none(const std::string& workload) const {
    lehr_kernel kernel = 1;
    lehr_error error = {sizeof error, ""};
    EXPECT_EQ(lehr_find(bundle_, workload.c_str(), nullptr, &kernel, &error), LEHR_NO_KERNEL) << workload;
    return error.text;
  }
  static lehr_kernel_info info_of(lehr_kernel kernel) {
    lehr_kernel_info info = {};
    info.size = sizeof info;
    EXPECT_EQ(lehr_info(kernel, &info, nullptr), LEHR_OK);
    return info;
  }
  static lehr_param_info param_of(lehr_kernel kernel, std::uint32_t index) {
    lehr_param_info info = {};
    info.size = sizeof info;
    EXPECT_EQ(lehr_param(kernel, index, &info, nullptr), LEHR_OK);
    return info;
  }
  /// What a manifest with a right hash of itself is refused for.
  std::string refused(const std::function<void(json&)>& change) {
    folder_.seal();
    const json whole = folder_.manifest;
    change(folder_.manifest);
    folder_.write_manifest();
    folder_.manifest = whole;
    lehr_bundle none = 0;
    lehr_error error = {sizeof error, ""};
    EXPECT_EQ(lehr_open(folder_.path().c_str(), nullptr, &none, &error), LEHR_BAD_BUNDLE) << error.text;
    return error.text;
  }

  BundleFolder folder_;
  lehr_bundle bundle_ = 0;
};

struct alignas(64) Line {
  std::array<float, 16> values{};
};

/// Memory of calls of up to so many rows, of which C has some more.
struct Call {
  std::vector<float> a, w = {1, 2, 3, 4}, c;
  std::vector<Line> packed{1}, scratch{8};
  std::vector<void*> params;
  lehr_call call = {};

  explicit Call(int rows) : a(static_cast<std::size_t>(4 * rows)), c(a.size() + 8, -7) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
    params = {a.data(), w.data(), c.data(), packed.data()};
    call = {sizeof call, 4, params.data(), scratch.data(), scratch.size() * sizeof(Line), 1, nullptr,
            nullptr,     0};
  }

  /// Whether C has so many right rows, and nothing behind them.
  bool right(std::size_t rows) const {
    for (std::size_t i = 0; i < c.size(); ++i)
      if (c[i] != (i < 4 * rows ? static_cast<float>(i) * static_cast<float>(2 * (i % 4 + 1)) : -7))
        return false;
    return true;
  }
};

std::string run(lehr_kernel kernel, Call& call) {
  lehr_error error = {sizeof error, ""};
  std::ranges::fill(call.c, -7.0F);
  const lehr_status status = lehr_run(kernel, &call.call, &error);
  EXPECT_EQ(status == LEHR_OK, error.text[0] == '\0');
  return error.text;
}

TEST_F(Rows, AHandleThatIsBoundToSomeIsAsAnyOther) {
  open();
  for (int rows = 1; rows <= 64; ++rows) {
    const std::string workload = "scale width=4 m=" + std::to_string(rows);
    const lehr_kernel kernel = find(workload);
    const lehr_kernel_info info = info_of(kernel);
    EXPECT_EQ(info.answer, static_cast<std::uint32_t>(LEHR_EXACT));
    EXPECT_EQ(info.parts, 1u);
    EXPECT_EQ(info.params, 4u);
    EXPECT_EQ(info.threads, 1u);
    EXPECT_EQ(info.most_rows, 0u);
    EXPECT_STREQ(info.workload, rows == 1 ? "scale m=1 width=4 kind=double" : workload.c_str());
    EXPECT_STREQ(info.name, rows == 1    ? "scale_1"
                            : rows <= 8  ? "told_scale_8_plain"
                            : rows <= 20 ? "told_scale_20"
                                         : "told_scale_64");
    EXPECT_DOUBLE_EQ(info.time_us, rows <= 8 ? 3 + (rows - 1) : 10 + (rows - 8) * 0.5);
    EXPECT_EQ(param_of(kernel, 0).bytes, 16u * static_cast<unsigned>(rows));
    EXPECT_EQ(param_of(kernel, 0).row_bytes, 0u);
    EXPECT_EQ(param_of(kernel, 1).constant, 1u);
    EXPECT_EQ(param_of(kernel, 3).role, static_cast<std::uint32_t>(LEHR_PREPACKED));
    std::uint64_t bytes = 0;
    EXPECT_EQ(lehr_scratch_bytes(kernel, 2, &bytes, nullptr), LEHR_OK);
    EXPECT_EQ(bytes, 128u);
    Call call(rows);
    EXPECT_EQ(lehr_prepack(kernel, &call.call, nullptr), LEHR_OK);
    EXPECT_EQ(run(kernel, call), "");
    EXPECT_TRUE(call.right(static_cast<std::size_t>(rows))) << rows;
    EXPECT_EQ(kernel, find(workload)) << "made once";
    call.call.rows = 1;
    EXPECT_EQ(run(kernel, call), "lehr_call::rows is 1, and the kernel's rows are fixed: set it to 0");
  }
}

TEST_F(Rows, AnOpenHandlesCallsSayHowManyTheyHave) {
  open();
  const lehr_kernel kernel = find(kRange);
  EXPECT_EQ(kernel, find("scale width=4 kind=2 m=1..64"));
  const lehr_kernel_info info = info_of(kernel);
  EXPECT_STREQ(info.workload, "scale m=1..64 width=4 kind=double");
  EXPECT_EQ(info.answer, static_cast<std::uint32_t>(LEHR_EXACT));
  EXPECT_EQ(info.least_rows, 1u);
  EXPECT_EQ(info.most_rows, 64u);
  EXPECT_DOUBLE_EQ(info.time_us, 38) << "of the most";
  EXPECT_DOUBLE_EQ(info.max_error, 64e-8) << "the largest of its kernels";
  EXPECT_EQ(param_of(kernel, 0).bytes, 64u * 16);
  EXPECT_EQ(param_of(kernel, 0).row_bytes, 16u);
  EXPECT_EQ(param_of(kernel, 1).row_bytes, 0u);
  Call call(64);
  EXPECT_EQ(lehr_prepack(kernel, &call.call, nullptr), LEHR_OK) << "which is once, for all of them";
  for (const std::uint32_t workers : {1u, 3u}) {
    call.call.workers = workers;
    call.call.parallel_for =
        +[](void*, std::uint32_t count, void (*work)(void*, std::uint32_t), void* context) {
          while (count-- > 0) work(context, count);
        };
    for (std::uint64_t rows = 1; rows <= 64; ++rows) {
      call.call.rows = rows;
      ASSERT_EQ(run(kernel, call), "");
      ASSERT_TRUE(call.right(rows)) << rows;
    }
  }
  for (const std::uint64_t rows : {std::uint64_t{0}, std::uint64_t{65}, ~std::uint64_t{0}}) {
    call.call.rows = rows;
    EXPECT_EQ(run(kernel, call), "lehr_call::rows is " + std::to_string(rows) + ": the kernel takes 1 to 64");
    EXPECT_TRUE(call.right(0));
  }
}

TEST_F(Rows, OfOtherThreadsAreAnsweredAsOtherKernelsAre) {
  open();
  for (const char* workload : {"scale m=7 width=4", kRange}) {
    const lehr_kernel kernel = find(workload, 5);
    EXPECT_EQ(info_of(kernel).answer, static_cast<std::uint32_t>(LEHR_OTHER_THREADS));
    EXPECT_EQ(kernel, find(workload, 5));
    Call call(7);
    call.call.rows = info_of(kernel).most_rows > 0 ? 7 : 0;
    EXPECT_EQ(lehr_prepack(kernel, &call.call, nullptr), LEHR_OK);
    EXPECT_EQ(run(kernel, call), "");
    EXPECT_TRUE(call.right(7));
    EXPECT_EQ(info_of(find(workload, 1)).answer, static_cast<std::uint32_t>(LEHR_EXACT));
  }
}

TEST_F(Rows, OutsideOfTheRangeOrOfAnotherOneHaveNoKernel) {
  folder_.manifest["sets"][0]["members"].erase(0);
  folder_.manifest["sets"][0].update({{"least", 2}, {"workload", "scale m=2..64 width=4 kind=double"}});
  folder_.manifest["kernels"][0]["workload"] = "scale m=1 width=5 kind=double";
  open();
  for (const char* rows : {"1", "1..64", "..64", "2..63", "3..64", "0", "2..", ".."})
    EXPECT_THAT(why_none("scale width=4 m=" + std::string(rows)), HasSubstr("the bundle has no kernel for"));
  EXPECT_THAT(why_none("scale width=4 m=..8"), HasSubstr("no kernel for")) << "a member is none by itself";
  EXPECT_THAT(why_none("scale width=5 m=2..64"), HasSubstr("no kernel for"));
  std::uint32_t count = 0;
  EXPECT_EQ(lehr_count(bundle_, &count, nullptr), LEHR_OK);
  EXPECT_EQ(count, 2u) << "the fixed kernel and the set";
  lehr_kernel kernel = 0;
  EXPECT_EQ(lehr_at(bundle_, 1, &kernel, nullptr), LEHR_OK);
  EXPECT_EQ(kernel, find("scale width=4 m=2..64"));
  EXPECT_EQ(lehr_at(bundle_, 2, &kernel, nullptr), LEHR_BAD_ARGUMENT);
  Call call(64);
  call.call.rows = 1;
  EXPECT_EQ(run(find("scale width=4 m=2..64"), call), "lehr_call::rows is 1: the kernel takes 2 to 64");
}

// What is faster answers, tuned alone or in a set.
TEST_F(Rows, AFixedKernelAnswersBesideASetWhereItIsFaster) {
  add_scale(folder_, 4, 1);
  add_scale(folder_, 16, 100);
  open();
  EXPECT_STREQ(info_of(find("scale m=4 width=4")).name, "scale_4");
  EXPECT_STREQ(info_of(find("scale m=16 width=4")).name, "told_scale_20");
  EXPECT_STREQ(info_of(find("scale m=68 width=4")).name, "scale_4") << "17 of them";
}

// In as few calls as there can be, of about equally many.
TEST_F(Rows, MoreThanTheMostAreSplit) {
  open();
  for (const int rows : {65, 66, 128, 129, 150, 640, 641}) {
    const lehr_kernel kernel = find("scale width=4 m=" + std::to_string(rows));
    const lehr_kernel_info info = info_of(kernel);
    const int calls = (rows + 63) / 64, each = rows / calls, more = rows % calls;
    EXPECT_EQ(info.answer, static_cast<std::uint32_t>(LEHR_SPLIT));
    EXPECT_EQ(info.parts, static_cast<std::uint32_t>(calls));
    EXPECT_EQ(info.wasted, 0);
    EXPECT_NEAR(info.time_us, calls * (10 + (each - 8) * 0.5) + more * 0.5 + (calls - 1) * 0.1, 1e-9);
    EXPECT_EQ(param_of(kernel, 0).bytes, 16u * static_cast<unsigned>(rows));
    Call call(rows);
    EXPECT_EQ(lehr_prepack(kernel, &call.call, nullptr), LEHR_OK);
    EXPECT_EQ(run(kernel, call), "");
    EXPECT_TRUE(call.right(static_cast<std::size_t>(rows))) << rows;
    EXPECT_EQ(kernel, find("scale width=4 m=" + std::to_string(rows)));
  }
  const lehr_find_options exact = {sizeof exact, 0, 1, LEHR_ANY_TARGET};
  lehr_kernel kernel = 0;
  EXPECT_EQ(lehr_find(bundle_, "scale width=4 m=65", &exact, &kernel, nullptr), LEHR_NO_KERNEL);
  EXPECT_EQ(info_of(find("scale width=4 m=65", 3)).answer, static_cast<std::uint32_t>(LEHR_SPLIT));
}

// No number of calls of 40 to 64 rows makes 65 of them up.
TEST_F(Rows, MoreThanTheMostThatNoCallsMakeUpHaveNoKernel) {
  folder_.manifest["kernels"].erase(0);
  folder_.manifest["sets"] = json::array();
  add_scale_set(folder_, 40, {{0, 64}}, {{64, 40.0}});
  open();
  EXPECT_THAT(why_none("scale width=4 m=65"), HasSubstr("no kernel for"));
  EXPECT_EQ(info_of(find("scale width=4 m=80")).parts, 2u);
}

TEST_F(Rows, OneMostIsASetOfItsOwn) {
  folder_.manifest["sets"] = json::array();
  add_scale_set(folder_, 1, {{1, 64}}, {{64, 40.0}});
  folder_.manifest["sets"][0]["workload"] = "scale m=..64 width=4 kind=double";
  open();
  EXPECT_EQ(info_of(find("scale m=..64 width=4")).most_rows, 64u);
  EXPECT_DOUBLE_EQ(info_of(find("scale m=5 width=4")).time_us, 40) << "the one time that is known";
}

TEST_F(Rows, ASetAnswersWhereAllOfItsKernelsRun) {
  folder_.manifest["kernels"][2]["features"] = {"sse9000"};
  open();
  EXPECT_EQ(why_none(kRange),
            "the bundle's kernel for 'scale m=1..64 width=4' needs sse9000, which is not there");
  EXPECT_STREQ(info_of(find("scale m=30 width=4")).name, "scale_1") << "it runs by itself";
  EXPECT_EQ(lehr_close(bundle_, nullptr), LEHR_OK);
  bundle_ = 0;
  folder_.manifest["kernels"][0]["features"] = {"sse9000"};
  folder_.seal();
  lehr_error error = {sizeof error, ""};
  EXPECT_EQ(lehr_open(folder_.path().c_str(), nullptr, &bundle_, &error), LEHR_WRONG_DEVICE);
  EXPECT_THAT(std::string(error.text), HasSubstr("needs sse9000, which is not there"));
}

TEST_F(Rows, SelfTestsTellThemFewerThanTheMost) {
  const auto element = [](std::uint64_t at) {
    return 2.0 * runtime::self_test_input(0, at) * runtime::self_test_input(1, at % 4);
  };
  for (std::size_t i = 1; i < 4; ++i)
    folder_.manifest["kernels"][i]["self_test"] = {
        {"tolerance", 1e-6}, {"rows", 5}, {"output", {{0, element(0)}, {19, element(19)}}}};
  const lehr_open_options tested = {sizeof tested, nullptr, 1, 0};
  open(&tested);
  lehr_error error = {sizeof error, ""};
  EXPECT_EQ(lehr_self_test(find(kRange), &error), LEHR_OK) << error.text;
  EXPECT_EQ(lehr_self_test(find("scale m=30 width=4"), &error), LEHR_OK) << error.text;
  EXPECT_EQ(lehr_close(bundle_, nullptr), LEHR_OK);
  bundle_ = 0;

  const json right = folder_.manifest;
  const auto wrong = [&](const json& test) -> std::string {
    folder_.manifest = right;
    folder_.manifest["kernels"][3]["self_test"].update(test);
    folder_.seal();
    EXPECT_NE(lehr_open(folder_.path().c_str(), &tested, &bundle_, &error), LEHR_OK);
    return error.text;
  };
  EXPECT_THAT(wrong({{"output", {{19, element(19) + 1}}}}),
              HasSubstr("m=..20 width=4 kind=double' computes c[19]"));
  EXPECT_THAT(wrong({{"output", {{20, element(20)}}}}), HasSubstr("of an element that is not there"));
  for (const json& rows : {json(0), json(21), json(), json("5")})
    EXPECT_THAT(wrong({{"rows", rows}}), HasSubstr("a self-test of an impossible number of rows"));

  // One that writes all of its rows whatever it is told.
  folder_.manifest = right;
  std::string text = "extern \"C\" void told_scale_20(void* const* params, void*, long task) {\n";
  text +=
      "for (int i = 0; i < 4; ++i) ((float*)params[2])[task * 4 + i] = ((float*)params[0])[task * 4 + i] * "
      "((float*)params[3])[i]; }\n";
  text += "extern \"C\" void told_scale_20_prepack(void* const* params, void*, long task) {\n";
  text += "((float*)params[3])[task] = 2 * ((float*)params[1])[task]; }\n";
  folder_.add_library("told_scale_20", text);
  folder_.seal();
  EXPECT_EQ(lehr_open(folder_.path().c_str(), &tested, &bundle_, &error), LEHR_WRONG_RESULT);
  EXPECT_STREQ(error.text,
               "the kernel for 'scale m=..20 width=4 kind=double' writes c behind the last of 5 rows");
}

// In a library that was compiled without NDEBUG.
TEST_F(Rows, WhatACallDoesNotHaveOverlapsNothing) {
#ifdef NDEBUG
  GTEST_SKIP() << "these checks are compiled away";
#endif
  open();
  const lehr_kernel kernel = find(kRange);
  Call call(64);
  EXPECT_EQ(lehr_prepack(kernel, &call.call, nullptr), LEHR_OK);
  call.params[2] = call.a.data() + 4 * 40;  // C lies behind the fortieth row of A
  call.call.rows = 41;
  EXPECT_EQ(run(kernel, call), "c, which is written, overlaps a");
  call.call.rows = 24;
  EXPECT_EQ(run(kernel, call), "");
  EXPECT_EQ(call.a[4 * 40 + 5], 5.0F * 4);
}

TEST_F(Rows, AManifestWhoseSetsMakeNoSenseIsRefused) {
  const auto set = [&](const auto& change) { return refused([&](json& m) { change(m["sets"][0]); }); };
  const auto kernel = [&](const auto& change) { return refused([&](json& m) { change(m["kernels"][3]); }); };
  EXPECT_THAT(refused([](json& m) { m["version"] = 1; }),
              HasSubstr("has kernels for any number of rows, which its version does not have"));
  EXPECT_THAT(refused([](json& m) {
                m["version"] = 1;
                m.erase("sets");
              }),
              HasSubstr("which its version does not have"));
  EXPECT_THAT(refused([](json& m) { m["sets"] = 5; }), HasSubstr("has sets that are no list"));
  for (const char* member : {"workload", "defaults", "shorter", "field", "least", "most", "threads"})
    EXPECT_THAT(set([&](json& s) { s.erase(member); }),
                HasSubstr("a set with a member that is missing or of the wrong kind"))
        << member;
  EXPECT_THAT(set([](json& s) { s["threads"] = 0; }), HasSubstr("a set for an impossible number of threads"));
  EXPECT_THAT(set([](json& s) { s["threads"] = 2; }), HasSubstr("another device or number of threads"));
  for (const char* range : {"1..63", "2..64", "64", "1..64..64", "..", "64..1", "a..64", "0..64"})
    EXPECT_THAT(set([&](json& s) { s["workload"] = "scale width=4 kind=double m=" + std::string(range); }),
                HasSubstr("has a set for another range than its workload"))
        << range;
  EXPECT_THAT(set([](json& s) { s["most"] = 65; }), HasSubstr("another range than its workload"));
  EXPECT_THAT(set([](json& s) { s["field"] = "width"; }), HasSubstr("another range than its workload"));
  EXPECT_THAT(set([](json& s) { s["members"][1]["kernel"] = 4; }), HasSubstr("a kernel that is not there"));
  EXPECT_THAT(set([](json& s) { s["members"][1]["kernel"] = -1; }), HasSubstr("a kernel that is not there"));
  for (const int to : {1, 0, 65})
    EXPECT_THAT(set([&](json& s) { s["members"][2]["to"] = to; }), HasSubstr("has a set"));
  EXPECT_THAT(set([](json& s) { s["members"][2]["to"] = 8; }), HasSubstr("do not follow each other"));
  EXPECT_THAT(set([](json& s) { s["members"][2]["to"] = 21; }), HasSubstr("does not serve its rows"));
  EXPECT_THAT(set([](json& s) { s["members"][0]["to"] = 2; }), HasSubstr("does not serve its rows"));
  EXPECT_THAT(set([](json& s) { s["members"].erase(3); }), HasSubstr("does not serve all of its range"));
  EXPECT_THAT(set([](json& s) { s["members"] = json::array(); }),
              HasSubstr("does not serve all of its range"));
  EXPECT_THAT(set([](json& s) { s["times"] = json::array(); }), HasSubstr("has a set without times"));
  EXPECT_THAT(set([](json& s) { s["times"][1] = {1, 2.0}; }), HasSubstr("an impossible time"));
  EXPECT_THAT(set([](json& s) { s["times"][1] = {8, -2.0}; }), HasSubstr("an impossible time"));
  EXPECT_THAT(set([](json& s) { s["times"][1] = json::array({8}); }), HasSubstr("an impossible time"));
  EXPECT_THAT(kernel([](json& k) { k["rows"] = 0; }), HasSubstr("an impossible number of rows"));
  EXPECT_THAT(kernel([](json& k) { k["rows"] = "20"; }), HasSubstr("an impossible number of rows"));
  EXPECT_THAT(kernel([](json& k) { k["rows"] = 19; }), HasSubstr("whose slices are not the most of them"));
  EXPECT_THAT(kernel([](json& k) { k.erase("slices"); }), HasSubstr("whose slices are not the most of them"));
  EXPECT_THAT(kernel([](json& k) { k["slices"]["bucket"] = true; }), HasSubstr("are not the most of them"));
  EXPECT_THAT(kernel([](json& k) { k["workload"] = "scale m=..21 width=4 kind=double"; }),
              HasSubstr("another number of slices than its workload"));
  EXPECT_THAT(kernel([](json& k) { k["workload"] = "scale m=20 width=4 kind=double"; }),
              HasSubstr("another number of slices than its workload"));
  EXPECT_THAT(kernel([](json& k) { k["prepack"]["layout"] = "tripled"; }), HasSubstr("different parameters"));
  EXPECT_THAT(kernel([](json& k) { k["params"][3]["bytes"] = 32; }), HasSubstr("different parameters"));
  EXPECT_THAT(kernel([](json& k) { k["params"][1]["bytes"] = 32; }), HasSubstr("different parameters"));
  EXPECT_THAT(kernel([](json& k) { k["params"][0]["dtype"] = "s32"; }), HasSubstr("different parameters"));
  EXPECT_THAT(kernel([](json& k) { k["slices"]["field"] = "width"; }),
              HasSubstr("another number of slices than its workload"));
}

// Bundles without such kernels are as they were, and no version behind this one is read.
TEST_F(Rows, VersionsAreThoseThatTheManifestNeeds) {
  EXPECT_THAT(refused([](json& m) { m["version"] = 3; }),
              HasSubstr("of a newer version than this library reads"));
  BundleFolder older;
  add_scale(older, 4, 1);
  older.manifest["version"] = 2;
  older.seal();
  EXPECT_EQ(lehr_open(older.path().c_str(), nullptr, &bundle_, nullptr), LEHR_OK);
}

TEST_F(Rows, NoCorruptionLoads) {
  folder_.seal();
  expect_no_corruption_loads(folder_, 300);
}

// An open handle's choice, beside a call of a bound one: the least of many.
TEST_F(Rows, ChoosingTheKernelTakesNanoseconds) {
  open();
  Call call(64);
  const auto least_ns = [&](lehr_kernel kernel, std::uint64_t rows) {
    double least = 1e9;
    call.call.rows = rows;
    for (int block = 0; block < 200; ++block) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < 100; ++i) lehr_run(kernel, &call.call, nullptr);
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      least = std::min(least, took.count() / 100);
    }
    return least;
  };
  for (const int rows : {2, 15}) {
    const double bound = least_ns(find("scale width=4 m=" + std::to_string(rows)), 0);
    const double open = least_ns(find(kRange), static_cast<std::uint64_t>(rows));
    RecordProperty("choosing_ns_" + std::to_string(rows), std::to_string(open - bound));
    EXPECT_LT(open, bound + 200) << "it is meant to take 20 ns, and more where the machine is busy";
  }
}

}  // namespace
}  // namespace lehr::testing
