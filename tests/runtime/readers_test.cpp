// The runtime's readers alone: hashes against published ones, documents of any kind.
#include <gtest/gtest.h>

#include <string>

#include "base/dtype.h"
#include "runtime/cpu_features.h"
#include "runtime/json.h"
#include "runtime/manifest.h"
#include "runtime/sha256.h"

namespace lehr::runtime {
namespace {

std::string hash_of(const std::string& text, std::size_t piece) {
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += piece)
    hash.add(text.data() + at, std::min(piece, text.size() - at));
  return hash.hex().data();
}

// FIPS 180-2, appendix B, and the empty message.
TEST(Sha256, IsThatOfTheStandardsExamplesInAnyPieces) {
  for (const std::size_t piece : {1u, 3u, 63u, 64u, 65u, 1000u}) {
    EXPECT_EQ(hash_of("", piece), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hash_of("abc", piece), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hash_of(std::string(1000000, 'a'), piece),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

// A kernel's parameters may be of any type: what is laid out beforehand, too.
TEST(ElementTypes, AreThoseOfTheTuner) {
  for (const DType type : all_dtypes()) {
    const ElementType* const known = element_type(name_of(type));
    ASSERT_NE(known, nullptr) << name_of(type);
    EXPECT_EQ(known->bits, 8 * size_of(type)) << name_of(type);
  }
}

/// A document with the text that it lies in.
struct Document {
  std::string text;
  Json json;
  const char* error;
  explicit Document(std::string given) : text(std::move(given)), error(json.read(text.data(), text.size())) {}
};

TEST(Json, ReadsEveryKindOfValue) {
  const Document document(
      R"( {"a": [1, -2.5e3, 0.001, true, false, null], "b": {"c": "x\"\\\u0041\n"}, "n": 123} )");
  ASSERT_EQ(document.error, nullptr);
  const Json& json = document.json;
  const std::uint32_t a = json.member(0, "a");
  double number = 0;
  bool yes = false;
  std::uint64_t whole = 0;
  std::string_view text;
  std::uint32_t at = json.first(a);
  EXPECT_TRUE(json.whole(at, whole) && whole == 1);
  at = json.after(a, at);
  EXPECT_TRUE(json.number(at, number));
  EXPECT_DOUBLE_EQ(number, -2500);
  EXPECT_FALSE(json.whole(at, whole));
  at = json.after(a, at);
  EXPECT_TRUE(json.number(at, number));
  EXPECT_DOUBLE_EQ(number, 0.001);
  at = json.after(a, at);
  EXPECT_TRUE(json.boolean(at, yes) && yes);
  at = json.after(a, at);
  EXPECT_TRUE(json.boolean(at, yes) && !yes);
  at = json.after(a, at);
  EXPECT_FALSE(json.boolean(at, yes) || json.number(at, number) || json.string(at, text));
  EXPECT_EQ(json.after(a, at), Json::kNone);
  EXPECT_TRUE(json.string(json.member(json.member(0, "b"), "c"), text));
  EXPECT_EQ(text, "x\"\\A\n");
  EXPECT_EQ(text.data()[text.size()], '\0');
  EXPECT_EQ(json.member(0, "missing"), Json::kNone);
  EXPECT_EQ(json.member(Json::kNone, "a"), Json::kNone);
  EXPECT_EQ(json.first(json.member(0, "n")), Json::kNone);
}

TEST(Json, RefusesWhatIsNone) {
  for (const char* text :
       {"",        " ",         "{",           "}",      "[1,]", "[1 2]", "{\"a\"}",    "{\"a\":}", "{a:1}",
        "nul",     "truex",     "01x",         "-",      "1.",   "1e",    "+1",         "\"",       "\"\\",
        "\"\\x\"", "\"\\u12\"", "\"\\u1234\"", "\"\n\"", "[]]",  "[}",    "{\"a\":1,}", "NaN",      "'a'"})
    EXPECT_NE(Document(text).error, nullptr) << text;
  EXPECT_STREQ(Document(std::string(100000, '[')).error, "it is nested too deeply");
}

TEST(Json, WholeNumbersAreThoseThatADoubleHolds) {
  for (const auto& [text, wanted] :
       std::initializer_list<std::pair<const char*, bool>>{{"0", true},
                                                           {"9007199254740992", true},
                                                           {"9007199254740993", false},
                                                           {"-1", false},
                                                           {"1.0", false},
                                                           {"1e3", false},
                                                           {"99999999999999999999999", false}}) {
    const Document document(text);
    std::uint64_t value;
    EXPECT_EQ(document.json.whole(0, value), wanted) << text;
  }
  double number;
  EXPECT_FALSE(Document("1e999").json.number(0, number));
  EXPECT_TRUE(Document("1e-999999999999").json.number(0, number) && number < 1e-300);
}

TEST(CpuFeatures, AreThoseThatTheCompilersLibrarySees) {
#if defined(__x86_64__)
  const CpuFeatures here = cpu_features_here();
  const auto has = [&](const char* name) { return (here & cpu_feature_named(name)) != 0; };
  EXPECT_EQ(has("sse4.2"), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(has("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(has("bmi2"), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(has("avx512bw"), __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(has("avx512vnni"), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(has("avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(cpu_feature_named("avx9000"), 0u);
#endif
}

}  // namespace
}  // namespace lehr::runtime
