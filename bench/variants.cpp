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
    {"trees_alone", "anneal", [](TunerOptions& o) { o.learner.process = false; }},
    {"exploration_0", "anneal", [](TunerOptions& o) { o.learner.exploration = 0; }},
    {"exploration_1.5", "anneal", [](TunerOptions& o) { o.learner.exploration = 1.5; }},
    {"exploration_6", "anneal", [](TunerOptions& o) { o.learner.exploration = 6; }},
    {"exploration_12", "anneal", [](TunerOptions& o) { o.learner.exploration = 12; }},
    {"hinted_curiosity_0.5", "anneal", [](TunerOptions& o) { o.learner.hinted_curiosity = 0.5; }},
    {"hinted_curiosity_1", "anneal", [](TunerOptions& o) { o.learner.hinted_curiosity = 1; }},
    {"hints_no_prior", "anneal", [](TunerOptions& o) { o.learner.hints_as_prior = false; }},
    {"first_8", "anneal",
     [](TunerOptions& o) {
       o.learner.least_new = 8;
       o.batches = {.first = 8, .step = 2, .largest = 32};
     }},
    {"depth_3", "anneal", [](TunerOptions& o) { o.model.max_depth = 3; }},
    {"depth_8", "anneal", [](TunerOptions& o) { o.model.max_depth = 8; }},
    {"late_fits", "anneal",
     [](TunerOptions& o) {
       o.learner.first_fit = o.learner.least_new = 12;
       o.batches = {.first = 8, .step = 4, .largest = 32};
     }},
    {"batches_of_8", "anneal", [](TunerOptions& o) { o.batches = {.first = 8, .step = 0, .largest = 8}; }},
    {"no_local", "anneal", [](TunerOptions& o) { o.anneal.local_share = 0; }},
    {"local_half", "anneal", [](TunerOptions& o) { o.anneal.local_share = 0.5; }},
    {"patience_8", "anneal", [](TunerOptions& o) { o.learner.transfer_patience = 8; }},
    {"patience_unending", "anneal",
     [](TunerOptions& o) { o.learner.transfer_patience = o.learner.transfer_rows; }},
    {"hints_kept", "anneal",
     [](TunerOptions& o) { o.learner.transfer_judged = o.learner.transfer_rows + 1; }},
    {"no_diversity", "anneal", [](TunerOptions& o) { o.anneal.alpha = 0; }},
    {"epsilon_5", "anneal", [](TunerOptions& o) { o.anneal.epsilon = {0.05, 0.05, 1}; }},
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
