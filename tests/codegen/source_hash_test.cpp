// Tests of the hash of a source. It is stored with every trial, so that no log exports another kernel than it
// timed.
#include "codegen/source_hash.h"

#include <gtest/gtest.h>

#include <concepts>
#include <set>

#include "base/hash.h"
#include "codegen/source_fields.h"

namespace lehr {
namespace {

/// Returns a source that uses every member: an argument that is a map of each kind, a clustered launch,
/// prepacking, and a step behind it.
Source complete() {
  Source source;
  source.target = kTargets.back();
  source.text = "void k() {}\n";
  source.entry = "k";
  ir::TensorMap tiled;
  tiled.dims = {64, 32, 1, 1};
  tiled.strides = {1, 64, 0, 0};
  tiled.box = {8, 8, 0, 0};
  tiled.swizzle = 128;
  tiled.tf32 = true;
  ir::TensorMap images = tiled;
  images.rank = 4;
  images.im2col = ir::Im2col{.pixels = 16, .lower = {-1, -2}, .upper = {1, 2}, .step = {2, 3}};
  source.params = {{"a", DType::kBF16, 2048, ir::Direction::kIn, tiled},
                   {"x", DType::kF32, 4096, ir::Direction::kIn, images},
                   {"c", DType::kF32, 100, ir::Direction::kOut}};
  source.launch = {.grid = {2, 3, 4},
                   .block = {32, 5, 6},
                   .shared_bytes = 1024,
                   .work_items = 7,
                   .further_steps = 9,
                   .prepack_work_items = 8,
                   .cluster = 2,
                   .programmatic = true};
  source.scratch_bytes = 64;
  return source;
}

/// Changes the member number `wanted` of all that a source is made of, counted through vectors and optionals.
class Changer {
 public:
  explicit Changer(int wanted) : left_(wanted) {}
  std::string changed;  ///< the member's name; "" if there is no such member

  template <typename T>
  void operator()(const std::string& name, T& member, bool = true) {
    change(name, member);
  }

 private:
  bool is_it(const std::string& name) {
    if (left_-- != 0) return false;
    changed = name;
    return true;
  }
  void change(const std::string& name, std::integral auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if (is_it(name)) value = std::same_as<T, bool> ? static_cast<T>(!value) : static_cast<T>(value + 1);
  }
  void change(const std::string& name, std::string& value) {
    if (is_it(name)) value += 'x';
  }
  void change(const std::string& name, Target& value) {
    if (is_it(name)) value = kTargets[(value.index() + 1) % kTargets.size()];
  }
  void change(const std::string& name, DType& value) {
    if (is_it(name)) value = value == DType::kF64 ? DType::kF16 : DType::kF64;
  }
  void change(const std::string& name, ir::Direction& value) {
    if (is_it(name)) value = value == ir::Direction::kOut ? ir::Direction::kIn : ir::Direction::kOut;
  }
  template <typename T>
  void change(const std::string& name, std::optional<T>& value) {
    if (is_it(name))
      value = value ? std::nullopt : std::optional<T>(T());
    else if (value)
      change(name, *value);
  }
  template <Described T>
  void change(const std::string& name, T& value) {
    const auto inside = [&](const char* member, auto& each, bool = true) {
      change(name + "." + member, each);
    };
    describe(inside, value);
  }
  template <typename T>
  void change(const std::string& name, std::vector<T>& values) {
    if (is_it(name)) {
      values.pop_back();
      return;
    }
    if (is_it(name + " in another order")) {
      if (values.size() > 1) std::swap(values.front(), values.back());
      if (values.size() < 2) values.push_back(values.front());
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) change(name + "[" + std::to_string(i) + "]", values[i]);
  }
  template <typename T, std::size_t kSize>
  void change(const std::string& name, std::array<T, kSize>& values) {
    for (T& value : values) change(name, value);
  }

  int left_;
};

TEST(SourceHash, ChangesWithEverySingleMember) {
  std::set<std::uint64_t> hashes = {hash_of(complete())};
  int members = 0;
  for (;; ++members) {
    Source source = complete();
    Changer changer(members);
    describe(changer, source);
    if (changer.changed.empty()) break;
    EXPECT_TRUE(hashes.insert(hash_of(source)).second) << changer.changed;
  }
  EXPECT_GE(members, 73);  // the number of members, counted by hand: this test leaves no member out
}

TEST(SourceHash, IsFixedForEver) {
  Source source;
  source.text = "a\nb";
  source.entry = "k";
  source.params = {{"x", DType::kF32, 5, ir::Direction::kIn}, {"y", DType::kBF16, 6, ir::Direction::kOut}};
  source.launch.work_items = 3;
  const std::string text =
      "target=3:cpu\ntext=3:a\nb\nentry=1:k\n"
      "params=2 {\nname=1:x\ntype=3:f32\nelements=5\ndirection=2:in\n} "
      "{\nname=1:y\ntype=4:bf16\nelements=6\ndirection=3:out\n}\n"
      "launch{\ngrid=3 1 1 1\nblock=3 1 1 1\ntasks=3\ncluster=1\n}\n";
  EXPECT_EQ(canonical_text(source), text);
  EXPECT_EQ(hash_of(source), stable_hash(text));
}

TEST(SourceHash, TellsTextsApartThatSwapTheirBorder) {
  Source a = complete(), b = complete();
  a.text = "xy";
  a.entry = "z";
  b.text = "x";
  b.entry = "yz";
  EXPECT_NE(hash_of(a), hash_of(b));
  a = b = complete();
  a.text = "k";
  a.text += "\nentry=1:k";
  b.text = "k";
  EXPECT_NE(hash_of(a), hash_of(b));
}

}  // namespace
}  // namespace lehr
