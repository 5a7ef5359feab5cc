// Spaces for tests: see spaces.h.
#include "tests/space/spaces.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "space/knobs.h"

namespace lehr::testing {
namespace {

// Returns a coin that is fixed by its arguments: random-looking but repeatable predicates.
bool coin(std::uint64_t seed, std::int64_t a, std::int64_t b, std::uint64_t percent) {
  return hash_combine(hash_combine(seed, static_cast<std::uint64_t>(a)), static_cast<std::uint64_t>(b)) %
             100 <
         percent;
}

std::vector<std::int64_t> random_values(Rng& rng) {
  std::vector<std::int64_t> values;
  for (std::uint64_t n = 1 + rng.below(5), v = rng.below(4); values.size() < n; v += 1 + rng.below(6)) {
    values.push_back(static_cast<std::int64_t>(v));
  }
  return values;
}

FamilySpace random_family(const std::string& name, Rng& rng) {
  FamilySpace family(name);
  std::vector<std::size_t> ids;
  for (std::uint64_t n = 1 + rng.below(6); ids.size() < n;) {
    const bool dependent = !ids.empty() && rng.below(2) != 0;
    const std::size_t on = dependent ? ids[rng.below(ids.size())] : 0;
    ids.push_back(family.add("k" + std::to_string(ids.size()), "", random_values(rng)));
    if (dependent)
      family.only([=, own = ids.back(), seed = rng.next()](const Members& p) {
        return coin(seed, p[on], p[own], 65);
      });
    if (rng.below(3) != 0) continue;
    const std::size_t a = ids[rng.below(ids.size())], b = ids[rng.below(ids.size())];
    family.forbid("the coin fell",
                  [=, seed = rng.next()](const Members& p) { return !coin(seed, p[a], p[b], 75); });
  }
  return family;
}

void expand(const FamilySpace& family, Point point, std::size_t knob, std::vector<Point>& found) {
  if (knob == family.knobs().size()) {
    if (!family.why_invalid(family.config_of(point))) found.push_back(point);
    return;
  }
  for (std::size_t at = 0; at < family.knobs()[knob].values.size(); ++at) {
    point.knobs[knob] = static_cast<std::uint16_t>(at);
    expand(family, point, knob + 1, found);
  }
}

/// Returns the same test, which counts how often it is asked.
MembersTest counted(std::int64_t* asked, MembersTest test) {
  if (asked == nullptr) return test;
  return [=](const Members& p) {
    ++*asked;
    return test(p);
  };
}

}  // namespace

FamilySpace small_family() {
  struct Small {
    std::int64_t tile = 1, step = 1, vector = 1, stages = 1, order = 0;
  };
  return described_space<Small>("small", [](Knobs<Small>& k) {
    k.knob(&Small::tile, "tile", "elements", {1, 2, 4, 8, 12});
    k.knob(&Small::step, "step", "a factor of tile", {1, 2, 3, 4, 6, 8, 12});
    k.only([](const Small& s) { return s.tile % s.step == 0; });
    k.knob(&Small::vector, "vector", "lanes", {1, 2, 4});
    k.only([](const Small& s) { return s.step % s.vector == 0 && s.step != 3; });  // a dead end
    k.knob(&Small::stages, "stages", "buffers", {1, 2, 3});
    k.forbid("needs more than 24 elements of memory", [](const Small& s) { return s.tile * s.stages > 24; });
    k.knob(&Small::order, "order", "loop order", {0, 1});
    k.forbid("order 1 needs vectors", [](const Small& s) { return s.order == 1 && s.vector == 1; });
  });
}

Space small_space() {
  return Space({small_family()});
}

Space two_family_space() {
  FamilySpace few("few");
  few.add("variant", "", {0, 1, 2});
  FamilySpace many("many");
  many.add("a", "", {1, 2, 3, 4, 5, 6, 7, 8});
  many.add("b", "", {1, 2, 3, 4, 5, 6, 7, 8});
  many.add("c", "", {1, 2, 3, 4, 5, 6});
  return Space({few, many});
}

Space gemm_like_space(std::int64_t* asked) {
  FamilySpace f("gemm");
  const std::size_t bm = f.add("block_m", "rows of a block's tile", powers_of_two(16, 256));
  const std::size_t bn = f.add("block_n", "columns of a block's tile", powers_of_two(16, 256));
  const std::size_t bk = f.add("block_k", "depth of a stage", powers_of_two(8, 128));
  const std::size_t tm = f.add("thread_m", "rows of a thread's tile", powers_of_two(1, 16));
  f.only(counted(asked, [=](const Members& p) { return p[tm] <= p[bm]; }));
  const std::size_t tn = f.add("thread_n", "columns of a thread's tile", powers_of_two(1, 16));
  f.only(counted(asked, [=](const Members& p) { return p[tn] <= p[bn]; }));
  f.forbid("needs fewer than 32 threads or more than 1024", counted(asked, [=](const Members& p) {
             const std::int64_t threads = p[bm] * p[bn] / (p[tm] * p[tn]);
             return threads < 32 || threads > 1024;
           }));
  const std::size_t stages = f.add("stages", "buffers", {1, 2, 3, 4, 5});
  f.forbid("needs more than 96 KiB of shared memory",
           counted(asked, [=](const Members& p) { return (p[bm] + p[bn]) * p[bk] * 2 * p[stages] > 98304; }));
  f.add("vector_a", "elements per load", {1, 2, 4, 8});
  f.add("vector_b", "elements per load", {1, 2, 4, 8});
  f.add("swizzle", "", {0, 1, 2, 3});
  f.add("unroll", "", {1, 2, 4, 8, 16});
  f.add("split_k", "blocks along k", {1, 2, 4, 8, 16});
  f.add("raster", "", {0, 1, 2, 4, 8});
  return Space({f});
}

Space huge_space(std::int64_t* asked) {
  FamilySpace family("huge");
  std::vector<std::int64_t> values;
  for (std::int64_t v = 0; v < 32; ++v) values.push_back(v);
  for (std::size_t i = 0; i < 10; ++i) {
    family.add("k" + std::to_string(i), "", values);
    if (i >= 5 && i < 9)  // each keeps about half: (1/2)^4 = 6 % are valid
      family.forbid("not ascending", counted(asked, [=](const Members& p) { return p[i - 5] > p[i]; }));
  }
  return Space({family});
}

Space random_space(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<FamilySpace> families;
  for (std::uint64_t n = 1 + rng.below(3); families.size() < n;) {
    families.push_back(random_family("f" + std::to_string(families.size()), rng));
  }
  return Space(std::move(families));
}

std::vector<Point> brute_force(const Space& space) {
  std::vector<Point> found;
  for (std::uint16_t family = 0; family < space.families().size(); ++family)
    expand(space.families()[family], {family, {}}, 0, found);
  return found;
}

}  // namespace lehr::testing
