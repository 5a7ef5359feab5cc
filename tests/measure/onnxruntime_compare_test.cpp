// Tests how outputs of a rewritten model are compared with the original's. Once they were compared for one
// draw of N(0, 1), with the largest magnitude for the range, and only where they were f32: an infinity hid
// every difference, and whole numbers were not looked at.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "base/small_float.h"
#include "measure/vendor/onnxruntime/compare.h"
#include "measure/vendor/onnxruntime/inputs.h"

namespace lehr::onnxruntime {
namespace {

using Type = OrtElementType;

template <typename T>
Data data_of(Type type, const std::vector<T>& elements, const std::string& name = "y") {
  Data data = {name, type, {static_cast<std::int64_t>(elements.size())}, ""};
  data.bytes.assign(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
  return data;
}
Data floats(const std::vector<float>& elements) {
  return data_of(Type::kFloat, elements);
}

// Returns the original's outputs for some kinds of inputs, which it repeats exactly.
std::vector<Original> originals_of(const std::vector<Data>& outputs) {
  std::vector<Original> originals;
  for (const Data& data : outputs) {
    Original& original = originals.emplace_back(fmt::format("kind {}", originals.size()), std::vector<Data>{},
                                                std::vector{data}, std::vector<Difference>{});
    add_own(original, original.outputs);
  }
  return originals;
}

// Returns what is wrong with `got` for the first kind; "" if it is right.
std::string wrong(const std::vector<Data>& outputs, const Data& got, double tolerance = 1e-4) {
  const std::vector<Original> originals = originals_of(outputs);
  Agreement agreement;
  Comparison(originals, {.tolerance = tolerance}).add(0, {got}, agreement);
  EXPECT_TRUE(std::isfinite(agreement.worst));
  return agreement.wrong;
}

TEST(CompareOutputs, TellsEachOutputsErrorAndInHowManyRowsTheSameClassComesFirst) {
  const auto rows = [](const std::vector<float>& elements) {
    Data data = data_of(Type::kFloat, elements);
    data.shape = {static_cast<std::int64_t>(elements.size() / 2), 2};
    return data;
  };
  const std::vector<Original> originals = originals_of({rows({1, 2, 4, 3, 5, 5}), rows({1, 0, 0, 1, 2, 2})});
  Agreement agreement;
  const Comparison comparison(originals, {.tolerance = 0.4});
  for (int run = 0; run < 2; ++run) comparison.add(0, {rows({1, 2, 3, 4, 5, 5.5F})}, agreement);
  comparison.add_classes(0, {rows({1, 2, 3, 4, 5, 5.5F})}, agreement);
  comparison.add_classes(1, {rows({1, 0, 0, 1, 2, 2})}, agreement);
  EXPECT_EQ(agreement.wrong, "");
  ASSERT_EQ(agreement.outputs.size(), 1u);
  EXPECT_EQ(agreement.outputs[0].name, "y");
  EXPECT_DOUBLE_EQ(agreement.outputs[0].worst, 0.2);
  EXPECT_EQ(agreement.outputs[0].rows, 6);
  EXPECT_EQ(agreement.outputs[0].same_class, 5) << "of two that are largest in the original either is right";
  Agreement other;
  comparison.add_classes(0, {floats({1, 2, 3})}, other);
  EXPECT_TRUE(other.outputs.empty());
}

TEST(CompareOutputs, HoldsFiniteValuesToTheRangeOfFiniteOnes) {
  EXPECT_EQ(wrong({floats({1, 2, 4})}, floats({1, 2, 4.0003F})), "");
  EXPECT_EQ(wrong({floats({1, 2, 4})}, floats({1, 2.001F, 4})),
            "output 'y' differs by 0.00025 of its range, of which 0.0001 is allowed, with inputs of kind 0");
  for (const float special : {INFINITY, -INFINITY, NAN}) {
    EXPECT_EQ(wrong({floats({1, 2, special})}, floats({1, 2, special})), "");
    EXPECT_NE(wrong({floats({1, 2, special})}, floats({1, 2.001F, special})), "") << special;
    EXPECT_NE(wrong({floats({1, 2, special})}, floats({1, 2, 3})), "") << special;
    EXPECT_NE(wrong({floats({1, 2, 3})}, floats({1, 2, special})), "") << special;
  }
  EXPECT_NE(wrong({floats({1, INFINITY})}, floats({1, -INFINITY})), "");
  EXPECT_NE(wrong({floats({1, INFINITY})}, floats({1, NAN})), "");
}

// A mask of huge numbers is finite, and follows no input.
TEST(CompareOutputs, LeavesWhatFollowsNoInputOutOfTheRange) {
  const std::vector<Data> masked = {floats({-3e38F, 1, 2}), floats({-3e38F, 3, 4})};
  EXPECT_NE(wrong(masked, floats({-3e38F, 1, 2.001F})), "");
  EXPECT_EQ(wrong(masked, floats({-3e38F, 1, 2.0001F})), "");
  EXPECT_EQ(wrong({floats({5, 5}), floats({5, 5})}, floats({5, 5.0001F})), "");
  // A mask that is an input hides other elements for each input.
  const std::vector<Data> moving = {floats({-3e38F, 1, 2}), floats({3, -2e38F, 4})};
  EXPECT_NE(wrong(moving, floats({-3e38F, 1, 2.001F})), "");
  EXPECT_EQ(wrong(moving, floats({-2.9e38F, 1, 2})), "");
  EXPECT_NE(wrong(moving, floats({0, 1, 2})), "");
}

/// Returns what is wrong with `got` for the first kind under these rules; "" if it is right.
std::string wrong_by(const ComparisonRules& rules, const std::vector<Data>& outputs, const Data& got) {
  const std::vector<Original> originals = originals_of(outputs);
  Agreement agreement;
  Comparison(originals, rules).add(0, {got}, agreement);
  return agreement.wrong;
}

// With another order of a sum, a whole number may become the next one.
TEST(CompareOutputs, HoldsBytesToSteps) {
  const ComparisonRules rules = {.tolerance = 2.0 / 127, .outputs_vary = false, .common_range = true};
  // The output is `one` at one element of 64.
  const auto bytes = [](Type type, int one, int other) {
    std::vector<std::uint8_t> all(64, static_cast<std::uint8_t>(other));
    all[0] = static_cast<std::uint8_t>(one);
    return data_of<std::uint8_t>(type, all);
  };
  for (const Type type : {Type::kUint8, Type::kInt8}) {
    const Data base = bytes(type, 1, 100);
    EXPECT_EQ(wrong_by(rules, {base}, bytes(type, -1, 100)).empty(), type == Type::kInt8)
        << "255 is far from 1";
    EXPECT_EQ(wrong_by(rules, {base}, bytes(type, 9, 100)), "");
    EXPECT_EQ(wrong_by(rules, {base}, bytes(type, 10, 100)),
              "output 'y' differs by 9 steps with inputs of kind 0");
    EXPECT_EQ(wrong({base}, bytes(type, 2, 100)), "") << "f32 may be rounded to the next";
    EXPECT_NE(wrong({base}, bytes(type, 3, 100)), "");
    // The zero point is another one.
    EXPECT_EQ(wrong_by(rules, {base}, bytes(type, 2, 101)),
              "output 'y' differs by 1 steps in the mean with inputs of kind 0");
  }
}

TEST(CompareOutputs, TakesTheRangeOfAllKindsWhereStepsAreEqual) {
  const std::vector<Data> outputs = {floats({0.05F, 0.1F}), floats({6, 3})};
  const ComparisonRules rules = {.tolerance = 2.0 / 127, .outputs_vary = false, .common_range = true};
  EXPECT_NE(wrong(outputs, floats({0.1F, 0.1F}), rules.tolerance), "");
  EXPECT_EQ(wrong_by(rules, outputs, floats({0.1F, 0.1F})), "");
  EXPECT_NE(wrong_by(rules, outputs, floats({0.2F, 0.1F})), "");
}

// A kernel behind a gate that is zero may compute anything.
TEST(CompareOutputs, NamesWhatIsTheSameForAllInputs) {
  const ComparisonRules rules = {.tolerance = 1e-4, .outputs_vary = true, .common_range = false};
  const auto blind = [&](const std::vector<Data>& outputs) {
    const std::vector<Original> originals = originals_of(outputs);
    const std::vector<BlindOutput> found = Comparison(originals, rules).blind();
    return found.empty() ? "" : clause(found[0]);
  };
  EXPECT_EQ(blind({floats({0, 1}), floats({0, 1})}), "'y': it is the same for all inputs");
  EXPECT_EQ(blind({floats({0, 1}), floats({0, 1}), floats({0, 2})}), "");
  EXPECT_EQ(blind({floats({0, 1})}), "") << "of one kind of inputs nothing can be said";
  const std::vector<Original> originals = originals_of({floats({0, 1}), floats({0, 1})});
  EXPECT_TRUE(Comparison(originals, {}).blind().empty()) << "a network may have an output that is constant";
}

TEST(CompareOutputs, HoldsOtherTypesExactly) {
  EXPECT_EQ(wrong({data_of<std::int64_t>(Type::kInt64, {1, 2})}, data_of<std::int64_t>(Type::kInt64, {1, 2})),
            "");
  EXPECT_EQ(wrong({data_of<std::int64_t>(Type::kInt64, {1, INT64_MAX})},
                  data_of<std::int64_t>(Type::kInt64, {1, INT64_MAX - 1})),
            "output 'y' differs in 0.5 of its elements with inputs of kind 0");
  for (const Type type :
       {Type::kBool, Type::kUint16, Type::kInt16, Type::kInt32, Type::kUint32, Type::kUint64}) {
    Data one = {"y", type, {3}, std::string(3 * bytes_of(type), '\1')}, other = one;
    EXPECT_EQ(wrong({one}, other), "");
    other.bytes[0] = 0;
    EXPECT_NE(wrong({one}, other), "") << static_cast<int>(type);
  }
  Data text = {"y", Type::kString, {1}, "a"}, other = text;
  EXPECT_EQ(wrong({text}, other), "");
  other.bytes = "b";
  EXPECT_NE(wrong({text}, other), "");
}

TEST(CompareOutputs, ComparesRealsOfEverySize) {
  EXPECT_NE(wrong({data_of<double>(Type::kDouble, {1, 2})}, data_of<double>(Type::kDouble, {1, 2.001})), "");
  EXPECT_EQ(wrong({data_of<double>(Type::kDouble, {1, 2})}, data_of<double>(Type::kDouble, {1, 2.0001})), "");
  const auto halves = [](float one, float other) {
    return data_of<std::uint16_t>(Type::kFloat16, {to_f16(one), to_f16(other)});
  };
  EXPECT_EQ(wrong({halves(1, 2)}, halves(1, 2.001F)), "");  // the next f16
  EXPECT_NE(wrong({halves(1, 2)}, halves(1, 2.01F)), "");
  const auto brains = [](float one, float other) {
    return data_of<std::uint16_t>(Type::kBfloat16, {to_bf16(one), to_bf16(other)});
  };
  EXPECT_EQ(wrong({brains(1, 2)}, brains(1, 2.01F)), "");
  EXPECT_NE(wrong({brains(1, 2)}, brains(1, 2.1F)), "");
}

TEST(CompareOutputs, ExcusesFourTimesWhatTheOriginalDiffersFromItself) {
  std::vector<Original> originals = originals_of({floats({1, 2})});
  add_own(originals[0], {floats({1, 2.002F})});
  Agreement agreement;
  const Comparison comparison(originals, {});
  EXPECT_NEAR(comparison.own(), 0.001, 1e-6);
  comparison.add(0, {floats({1, 2.007F})}, agreement);
  EXPECT_EQ(agreement.wrong, "");
  comparison.add(0, {floats({1, 2.009F})}, agreement);
  EXPECT_NE(agreement.wrong, "");
}

// Behind Clip(0, 1) of huge numbers a few elements are neither 0 nor 1, and have all the rounding.
TEST(CompareOutputs, ExcusesWhatRoundingOfTheInputsDoesUpToABound) {
  std::vector<Original> originals = originals_of({floats({0, 1, 0.5F})});
  const auto is_wrong = [&](float moved, float got) {
    originals[0].nudged = {difference(originals[0].outputs[0], floats({0, 1, moved}))};
    Agreement agreement;
    Comparison(originals, {}).add(0, {floats({0, 1, got})}, agreement);
    return !agreement.wrong.empty();
  };
  EXPECT_TRUE(is_wrong(0.5F, 0.501F));
  EXPECT_FALSE(is_wrong(0.5005F, 0.501F));
  EXPECT_TRUE(is_wrong(0.5005F, 0.503F));
  EXPECT_FALSE(is_wrong(0, 0.515F));
  EXPECT_TRUE(is_wrong(0, 0.53F)) << "chaos hides no fault";
}

TEST(InputsOfAllKinds, AreNudgedByRounding) {
  const std::vector<Data> inputs = {floats({1, -2, 0}), data_of<std::int64_t>(Type::kInt64, {3})};
  const std::vector<Data> other = nudged(inputs, 1);
  EXPECT_NE(other[0].bytes, inputs[0].bytes);
  EXPECT_LT(difference(inputs[0], other[0]).worst, 2e-6);
  EXPECT_EQ(other[1].bytes, inputs[1].bytes);
}

TEST(CompareOutputs, NamesWhatSaysNothing) {
  const auto uncompared = [](std::vector<Original> originals) {
    const Comparison comparison(originals, {});
    EXPECT_FALSE(comparison.says_anything());
    Agreement agreement;
    comparison.add(0, originals[0].outputs, agreement);
    EXPECT_EQ(agreement.wrong, "");
    EXPECT_EQ(comparison.blind().size(), 1u);
    return clause(comparison.blind().at(0));
  };
  EXPECT_EQ(uncompared(originals_of({floats({NAN, INFINITY}), floats({NAN, NAN})})),
            "'y': it has no finite value");
  EXPECT_EQ(uncompared(originals_of({floats({})})), "'y': it has no elements");
  EXPECT_EQ(uncompared(originals_of({{"y", Type::kUndefined, {}, ""}})),
            "'y': it is no tensor of a type that can be compared");
  std::vector<Original> random = originals_of({floats({1, 2})});
  add_own(random[0], {floats({2, 1})});
  EXPECT_EQ(uncompared(random),
            "'y': the original itself does not give the same twice: it is made at random");
}

// Huge inputs overflow here and there, depending on the last bit.
TEST(CompareOutputs, ExcusesMatchesOfInfinitiesWhereOthersAreFinite) {
  const std::vector<Data> outputs = {floats({1, INFINITY}), floats({1, 2})};
  EXPECT_EQ(wrong(outputs, floats({1, 3e38F})), "");
  EXPECT_NE(wrong(outputs, floats({2, INFINITY})), "");
  EXPECT_NE(wrong({outputs[1], outputs[0]}, floats({1, INFINITY})), "");
  const std::vector<Original> originals = originals_of(outputs);
  EXPECT_EQ(Comparison(originals, {}).not_finite(),
            std::vector<std::string>{"the original's 'y' is not finite with inputs of kind 0"});
}

TEST(CompareOutputs, WantsTheOriginalsShapesAndTypes) {
  EXPECT_NE(wrong({floats({1, 2})}, floats({1, 2, 3})), "");
  EXPECT_NE(wrong({floats({1, 2})}, data_of<double>(Type::kDouble, {1, 2})), "");
  const std::vector<Original> originals = originals_of({floats({1})});
  Agreement agreement;
  Comparison(originals, {}).add(0, {}, agreement);
  EXPECT_NE(agreement.wrong, "");
}

// ---- Inputs ----

TEST(InputsOfAllKinds, AreMadeForEveryTypeThatIsFed) {
  for (const Type type :
       {Type::kFloat, Type::kUint8, Type::kInt8, Type::kUint16, Type::kInt16, Type::kInt32, Type::kInt64,
        Type::kBool, Type::kFloat16, Type::kDouble, Type::kUint32, Type::kUint64, Type::kBfloat16})
    for (const InputKind& kind : input_kinds()) {
      const std::vector<Value> inputs = {{"x", type, {2, -1, 3}}};
      const std::vector<Data> made = make_inputs(inputs, {{{"x", {2, 5, 3}}}, {}}, kind, 7);
      ASSERT_EQ(made.size(), 1u);
      EXPECT_EQ(made[0].bytes.size(), 30 * bytes_of(type));
      EXPECT_EQ(make_inputs(inputs, {{{"x", {2, 5, 3}}}, {}}, kind, 7)[0].bytes, made[0].bytes);
    }
}

TEST(InputsOfAllKinds, StayWithinTheRangeThatIsAsked) {
  const std::vector<Value> inputs = {{"ids", Type::kInt64, {1000}}, {"real", Type::kFloat, {1000}}};
  for (const InputKind& kind : input_kinds()) {
    const std::vector<Data> made = make_inputs(inputs, {{}, {{"ids", {-4, 3}}, {"real", {2, 3}}}}, kind, 1);
    for (std::size_t i = 0; i < 1000; ++i) {
      std::int64_t id = 0;
      float real = 0;
      std::memcpy(&id, made[0].bytes.data() + 8 * i, 8);
      std::memcpy(&real, made[1].bytes.data() + 4 * i, 4);
      EXPECT_TRUE(id >= -4 && id <= 3) << id;
      EXPECT_TRUE(real == 2 || real == 3) << real;
    }
  }
}

TEST(InputsOfAllKinds, MasksHaveBothInEachRowForTwoKindsAndAreOnesForTheOthers) {
  const std::vector<Value> inputs = {{"mask", Type::kInt64, {5, 9}}, {"x", Type::kFloat, {5, 9}}};
  InputNeeds needs = {{}, {{"mask", {0, 0}}}};
  EXPECT_TRUE(may_be_mask(inputs[0]));
  EXPECT_FALSE(may_be_mask(inputs[1]));
  needs.masks = {"mask"};
  const auto mask_of = [&](const InputKind& kind, std::uint64_t seed) {
    return make_inputs(inputs, needs, kind, seed)[0].bytes;
  };
  const std::string first = mask_of(input_kinds()[0], 3);
  EXPECT_EQ(mask_of(input_kinds()[1], 4), first);
  for (const InputKind& kind : input_kinds().subspan(2)) {
    const std::string bytes = mask_of(kind, 3);
    for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], i % 8 == 0 ? 1 : 0) << kind.called;
  }
  for (std::size_t row = 0; row < 5; ++row) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 9; ++i) {
      std::int64_t element = 0;
      std::memcpy(&element, first.data() + 8 * (9 * row + i), 8);
      EXPECT_TRUE(element == 0 || element == 1);
      sum += element;
    }
    EXPECT_TRUE(sum > 1 && sum < 9) << sum;
  }
}

}  // namespace
}  // namespace lehr::onnxruntime
