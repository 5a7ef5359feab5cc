// Spaces for tests: see spaces.h.
#include "tests/space/spaces.h"

#include <algorithm>
#include <string>

#include "base/hash.h"

namespace lehr::testing {
namespace {

// A coin that is fixed by its arguments: random-looking but repeatable predicates.
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
  std::vector<KnobId> ids;
  for (std::uint64_t n = 1 + rng.below(6); ids.size() < n;) {
    const std::string knob = "k" + std::to_string(ids.size());
    const auto values = random_values(rng);
    if (ids.empty() || rng.below(2) == 0) {
      ids.push_back(family.add(knob, "", values));
    } else {
      const KnobId on = ids[rng.below(ids.size())];
      const std::uint64_t seed = rng.next();
      ids.push_back(family.add_dependent(knob, "", values, [=](const Point& point) {
        std::vector<std::int64_t> allowed;
        std::copy_if(values.begin(), values.end(), std::back_inserter(allowed),
                     [&](std::int64_t v) { return coin(seed, point[on], v, 65); });
        return allowed;
      }));
    }
    if (rng.below(3) != 0) continue;
    const KnobId a = ids[rng.below(ids.size())];
    const KnobId b = ids[rng.below(ids.size())];
    const std::uint64_t seed = rng.next();
    family.require("the coin fell", {a, b}, [=](const Point& p) { return coin(seed, p[a], p[b], 75); });
  }
  return family;
}

void expand(const FamilySpace& family, std::vector<std::int64_t>& values, std::vector<Config>& found) {
  if (values.size() == family.knobs().size()) {
    Config config = family.config_of(values);
    if (!family.why_invalid(config)) found.push_back(std::move(config));
    return;
  }
  for (std::int64_t value : family.knobs()[values.size()].values) {
    values.push_back(value);
    expand(family, values, found);
    values.pop_back();
  }
}

}  // namespace

FamilySpace small_family() {
  FamilySpace family("small");
  const KnobId tile = family.add("tile", "elements", {1, 2, 4, 8, 12});
  const KnobId step = family.add_dependent("step", "a factor of tile", {1, 2, 3, 4, 6, 8, 12},
                                           [=](const Point& p) { return factors(p[tile], 12); });
  const KnobId vector = family.add_dependent("vector", "lanes", {1, 2, 4}, [=](const Point& p) {
    std::vector<std::int64_t> lanes;  // none for a step of 3: a dead end
    for (std::int64_t v : {1, 2, 4}) {
      if (p[step] % v == 0 && p[step] != 3) lanes.push_back(v);
    }
    return lanes;
  });
  const KnobId stages = family.add("stages", "buffers", {1, 2, 3});
  const KnobId order = family.add("order", "loop order", {0, 1});
  family.require("needs more than 24 elements of memory", {tile, stages},
                 [=](const Point& p) { return p[tile] * p[stages] <= 24; });
  family.require("order 1 needs vectors", {vector, order},
                 [=](const Point& p) { return p[order] == 0 || p[vector] > 1; });
  return family;
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

Space gemm_like_space() {
  FamilySpace f("gemm");
  const KnobId bm = f.add("block_m", "rows of a block's tile", powers_of_two(16, 256));
  const KnobId bn = f.add("block_n", "columns of a block's tile", powers_of_two(16, 256));
  const KnobId bk = f.add("block_k", "depth of a stage", powers_of_two(8, 128));
  const auto up_to = [](KnobId limit) {
    return [=](const Point& p) { return powers_of_two(1, std::min<std::int64_t>(16, p[limit])); };
  };
  const KnobId tm = f.add_dependent("thread_m", "rows of a thread's tile", powers_of_two(1, 16), up_to(bm));
  const KnobId tn =
      f.add_dependent("thread_n", "columns of a thread's tile", powers_of_two(1, 16), up_to(bn));
  f.require("needs 32 to 1024 threads", {bm, bn, tm, tn}, [=](const Point& p) {
    const std::int64_t threads = p[bm] * p[bn] / (p[tm] * p[tn]);
    return threads >= 32 && threads <= 1024;
  });
  const KnobId stages = f.add("stages", "buffers", {1, 2, 3, 4, 5});
  f.require("needs more than 96 KiB of shared memory", {bm, bn, bk, stages},
            [=](const Point& p) { return (p[bm] + p[bn]) * p[bk] * 2 * p[stages] <= 98304; });
  f.add("vector_a", "elements per load", {1, 2, 4, 8});
  f.add("vector_b", "elements per load", {1, 2, 4, 8});
  f.add("swizzle", "", {0, 1, 2, 3});
  f.add("unroll", "", {1, 2, 4, 8, 16});
  f.add("split_k", "blocks along k", {1, 2, 4, 8, 16});
  f.add("raster", "", {0, 1, 2, 4, 8});
  return Space({f});
}

Space huge_space() {
  FamilySpace family("huge");
  std::vector<std::int64_t> values;
  for (std::int64_t v = 0; v < 32; ++v) values.push_back(v);
  std::vector<KnobId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(family.add("k" + std::to_string(i), "", values));
  for (std::size_t i = 0; i + 1 < 5; ++i) {  // each keeps about half: (1/2)^4 = 6 % are valid
    family.require("not ascending", {ids[i], ids[i + 5]},
                   [=](const Point& p) { return p[ids[i]] <= p[ids[i + 5]]; });
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

std::vector<Config> brute_force(const Space& space) {
  std::vector<Config> found;
  for (const FamilySpace& family : space.families()) {
    std::vector<std::int64_t> values;
    expand(family, values, found);
  }
  return found;
}

}  // namespace lehr::testing
