#include "workload/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "tests/support/make_reference.h"
#include "tests/support/ordinary.h"
#include "tests/support/seed.h"
#include "tests/workload/random_texts.h"
#include "workload/short_text.h"
#include "workload/unread.h"

namespace lehr {
namespace {

/// Returns the canonical text, or the sentence that says what is wrong, without words that came after the
/// hashes below.
std::string answer(const std::string& text) {
  try {
    const Workload workload = parse_workload(text);
    const std::string canonical = to_text(workload);
    EXPECT_EQ(parse_workload(canonical), workload) << text;
    // This came after the hashes, too.
    if (accum_of(workload) == DType::kS32 && to_text(workload.epilogue) == "bias")
      return "! epilogue=bias needs sums and outputs that are floating-point numbers, not s32";
    return canonical;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser) << text;
    std::string sentence = std::string("! ") + error.what();
    std::vector<std::string> newer = {", alpha", ", zero", ", or f32:row:constant", ", s7", ", rows"};
    const std::string_view last_before = "avgpool";
    const auto before = std::ranges::find(kEpilogueRows, last_before, &EpilogueRow::name);
    for (const EpilogueRow* row = before + 1; row != std::end(kEpilogueRows); ++row)
      if (!row->needs_type) newer.push_back(", " + std::string(row->name));
    for (const std::string& words : newer)
      if (const std::size_t at = sentence.find(words); at != std::string::npos)
        sentence.erase(at, words.size());
    return sentence;
  }
}

// The hashes are of the answers of the code that spelled every field out by hand, before there were tables
// (3d412b4).
TEST(OperatorTables, ReadAndWriteAsBeforeThereWereTables) {
  constexpr std::array<std::uint64_t, 8> kAnswers = {
      0x55ac781248586552, 0xd6bb2962355c510a, 0xb95377f0785528b1, 0xd5f703eb3b2e2a2b,
      0x91fde734630986e0, 0x6d330f3aabfe0fbc, 0x08ef625aeb59b1ed, 0xf6de7a0c11b4525d};
  Rng rng(20261125);
  for (std::size_t i = 0; i < kAnswers.size(); ++i) {
    std::uint64_t hash = 0;
    for (int j = 0; j < 5000; ++j) hash = hash_combine(hash, stable_hash(answer(testing::random_text(rng))));
    EXPECT_EQ(hash, kAnswers[i]) << "texts " << 5000 * i << " and on: 0x" << to_hex(hash);
  }
}

TEST(OperatorTables, AreInTheOrderOfTheVariant) {
  for (std::size_t i = 0; i < operators().size(); ++i)
    EXPECT_EQ(operators()[i].usual.problem.index(), i) << operators()[i].name;
}

TEST(OperatorTables, NameEachKeyOnce) {
  for (const OperatorTable& op : operators()) {
    std::set<std::string_view> keys;
    for (const Field& field : op.fields) {
      EXPECT_TRUE(keys.insert(field.key).second) << op.name << " " << field.key;
      EXPECT_TRUE(field.in_text() || field.is_flag()) << op.name << " " << field.key;
    }
  }
}

TEST(OperatorTables, HaveTheirOutputsLast) {
  for (const auto& [text, outputs] :
       {std::pair{"gemm m=2 n=4 k=3", 1},
        {"conv2d h=8 w=8 c=4 k=4 r=3 s=3", 1},
        {"rowwise m=2 n=3 in=x:f32 out=y:f32,z:f32:row expr=y=x;z=sum(x)", 2}}) {
    const Workload workload = parse_workload(text);
    const std::vector<TensorSpec> tensors = operator_of(workload).tensors(workload);
    EXPECT_TRUE(tensors.back().is_output()) << text;
    EXPECT_EQ(std::ranges::count(tensors, TensorRole::kOutput, &TensorSpec::role), outputs) << text;
  }
}

/// One value of each field that came later, other than the usual one.
const std::map<std::string_view, std::string> kLater = {
    {"math", "math=tf32"}, {"alpha", "alpha=0.75"}, {"zero", "zero=input"}, {"rows", "rows=2"}};

/// Returns a text for which the field may have an unusual value.
std::string plain_text(const OperatorTable& op, std::string_view field) {
  const bool gemm = op.name == "gemm";
  if (op.name == "rowwise") return "rowwise m=3 n=4 in=x:f32 out=y:f32 expr=y=x";
  if (field == "rows") return "gemm m=..3 n=4 k=5";
  const std::string text = gemm ? "gemm m=3 n=4 k=5" : "conv2d h=8 w=8 c=4 k=4 r=3 s=3";
  if (field != "zero") return text;
  return text + (gemm ? " a=u8 b=s8 c=s32 accum=s32" : " x=u8 f=s8 y=s32 accum=s32");
}

TEST(OperatorTables, AnswerForTheirWorkloads) {
  const Workload rows = parse_workload("gemm m=..64 rows=24 n=9 k=3 alpha=0.5");
  const Workload images = parse_workload("conv2d n=2 h=8 w=6 c=4 k=8 r=3 s=3 groups=4 epilogue=maxpool(2)");
  EXPECT_EQ(call_rows(rows).of_call(), 24);
  EXPECT_EQ(call_rows(images).most, 0);
  EXPECT_FALSE(images_of(rows));
  EXPECT_EQ(images_of(images)->height * images_of(images)->width, 6 * 4) << "before the pool";
  EXPECT_EQ(sums_of(rows).scale, 0.5F);
  EXPECT_FALSE(sums_of(images).of_matrices);
  EXPECT_TRUE(sums_of(rows).of_matrices);
  EXPECT_EQ(needed_flops_of(rows), flops_of(rows));
}

TEST(LaterFields, AreUnreadByWhoDoesNotListThem) {
  for (const OperatorTable& op : operators()) {
    for (const Field& field : op.fields) {
      if (!field.later) continue;
      const std::string& given = kLater.at(field.key);
      const std::string plain = plain_text(op, field.key);
      const Workload workload = parse_workload(plain + " " + given);
      EXPECT_EQ(why_unread(workload, std::array{field.key}), std::nullopt);
      if (field.key == "rows") {  // a kernel for any number of rows must support this field and no other
        EXPECT_EQ(why_unread(workload, {}), "its kernels are for a fixed number of rows");
        EXPECT_EQ(why_unread(parse_workload(plain), {}), "its kernels are for a fixed number of rows");
        continue;
      }
      EXPECT_EQ(why_unread(parse_workload(plain), {}), std::nullopt);
      EXPECT_EQ(why_unread(workload, {}), "it does not know " + given);
    }
  }
}

// A check that ignored such a field would call wrong kernels right.
TEST(LaterFields, ChangeWhatACheckExpects) {
  for (const OperatorTable& op : operators()) {
    for (const Field& field : op.fields) {
      if (!field.later) continue;
      const std::string text = plain_text(op, field.key);
      const Workload plain = parse_workload(text), with = parse_workload(text + " " + kLater.at(field.key));
      auto inputs = make_inputs(plain, 1);
      const Reference usual = make_reference(plain, inputs);
      if (tensors_of(with).size() > inputs.size()) inputs.push_back({100});
      const Reference other = make_reference(with, inputs);
      EXPECT_TRUE(other.values != usual.values || other.tolerance != usual.tolerance) << field.key;
    }
  }
}

double between(const std::string& a, const std::string& b) {
  return distance(parse_workload(a), parse_workload(b));
}

TEST(WorkloadDistance, CountsPowersOfTwoAndKinds) {
  const std::string gemm = "gemm m=512 n=512 k=512";
  EXPECT_EQ(between(gemm, gemm), 0);
  EXPECT_EQ(between(gemm, "gemm m=1024 n=512 k=128"), 3);
  EXPECT_EQ(between(gemm, gemm + " batch=8"), 3);
  EXPECT_EQ(between(gemm, gemm + " a=f32:col"), 4);
  EXPECT_EQ(between(gemm, gemm + " math=tf32"), 4);
  EXPECT_EQ(between(gemm, gemm + " epilogue=relu"), 0.5);
  EXPECT_EQ(between(gemm, gemm + " alpha=2"), 0.5);
  EXPECT_EQ(between(gemm + " alpha=2", gemm + " alpha=-3"), 0.5);
  EXPECT_EQ(between(gemm, gemm + " b=f32:row:constant"), 0.5);
  EXPECT_EQ(between(gemm + " b=f32:col", gemm + " b=f32:row:constant"), 4);
  EXPECT_EQ(between(gemm, gemm + " a=f16 b=f16 c=f16"), 12);
  EXPECT_EQ(between(gemm, "conv2d h=56 w=56 c=64 k=64 r=3 s=3"), 32);
}

// Strides and dilation of w, padding and the types but that of x once counted nothing.
TEST(WorkloadDistance, CountsEveryFieldOfAConvolution) {
  const std::string conv = "conv2d h=64 w=64 c=64 k=64 r=3 s=3 y=f32";
  for (const char* more : {"n=2", "groups=2", "stride=2", "dilation=2", "pad=1"})
    EXPECT_EQ(between(conv, conv + " " + more), 1) << more;
  EXPECT_EQ(between(conv, conv + " stride=1x2"), 0.5);
  EXPECT_EQ(between(conv, conv + " dilation=1x2"), 0.5);
  EXPECT_EQ(between(conv, conv + " pad=0x0x0x1"), 0.25);
  for (const char* more : {"x=f16", "f=f16", "y=f16", "accum=f64", "layout=nhwc", "math=tf32"})
    EXPECT_EQ(between(conv, conv + " " + more), 4) << more;
}

TEST(ShortText, IsReadAsTheSameWorkload) {
  Rng rng(testing::test_seed(7));
  const auto expect_same = [](const Workload& workload) {
    const std::string text = short_text(workload);
    EXPECT_EQ(parse_workload(text), workload) << text;
    EXPECT_EQ(short_text(to_text(workload)), text);
    EXPECT_LE(text.size(), to_text(workload).size());
  };
  int valid = 0;
  for (int i = 0; i < 3000; ++i) {
    try {
      expect_same(parse_workload(testing::random_text(rng)));
      ++valid;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(valid, 500);
  for (int i = 0; i < 300; ++i) expect_same(testing::ordinary_workload(rng));
  for (const char* text : {"gemm m=1..2048 n=8 k=8 b=f32:row:constant", "gemm m=..64 n=8 k=8 rows=24"})
    EXPECT_EQ(short_text(parse_workload(text)), text);
  EXPECT_EQ(short_text("gemm m=8 n=8 k=8 batch=1 epilogue=none"), "gemm m=8 n=8 k=8");
  EXPECT_EQ(short_text("fft n=8"), "fft n=8");
}

}  // namespace
}  // namespace lehr
