// See variants.h.
#include "bench/variants.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

const std::vector<Variant> kVariants = {
    {"tune", "anneal", [](TunerOptions&) {}},
    {"autotvm", "autotvm", [](TunerOptions&) {}},
};

}  // namespace

TunerOptions Variant::options() const {
  TunerOptions result = tuner_options(strategy);
  change(result);
  return result;
}

std::vector<Variant> variants_named(std::string_view names) {
  if (names == "all") return kVariants;
  const std::vector<std::string_view> wanted = split(names, ',');
  for (const std::string_view name : wanted)
    if (std::ranges::find(kVariants, name, &Variant::name) == kVariants.end())
      throw_user("there is no variant {}", name);
  std::vector<Variant> result;
  for (const Variant& variant : kVariants)
    if (std::ranges::find(wanted, variant.name) != wanted.end()) result.push_back(variant);
  return result;
}

}  // namespace lehr
