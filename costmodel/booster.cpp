// The only file that uses XGBoost's C API (that of 1.7, which 2 and 3 also have).
#include "costmodel/booster.h"

#include <xgboost/c_api.h>

#include <limits>

#include "base/error.h"

namespace lehr {
namespace {

constexpr int kLookEvery = 5;  // rounds
constexpr int kPatience = 25;  // boosting ends after this many rounds without a better held-out score
// One thread: with a few hundred rows, XGBoost's threads spend their time waiting for each other (200 rows,
// on 2 cores in addition to other work: 9 s of CPU time with two threads, 0.2 s with one; measured
// 2026-11-21).
constexpr std::pair<const char*, const char*> kOfAll[] = {
    {"nthread", "1"}, {"verbosity", "0"}, {"disable_default_eval_metric", "1"}};

void check(int status, std::string_view what) {
  if (status != 0) throw_environment("XGBoost failed to {}: {}", what, XGBGetLastError());
}

/// Returns a row-major float matrix as XGBoost's array interface. XGBoost reads the data only during the
/// call.
std::string array_interface(const FeatureMatrix& rows) {
  return fmt::format(R"({{"data":[{},true],"shape":[{},{}],"typestr":"<f4","version":3}})",
                     reinterpret_cast<std::uintptr_t>(rows.data()), rows.rows(), rows.columns());
}

void set_parameter(BoosterHandle handle, const char* name, const char* value) {
  check(XGBoosterSetParam(handle, name, value), "set a parameter");
}

}  // namespace

TrainingMatrix::TrainingMatrix(const FeatureMatrix& rows, std::span<const float> targets,
                               std::span<const std::uint32_t> group_sizes) {
  CHECK(rows.rows() == targets.size(), "{} rows with {} targets", rows.rows(), targets.size());
  check(XGDMatrixCreateFromDense(array_interface(rows).c_str(), R"({"missing":NaN,"nthread":1})", &handle_),
        "take the training rows");
  try {
    check(XGDMatrixSetFloatInfo(handle_, "label", targets.data(), targets.size()), "take the targets");
    if (!group_sizes.empty()) {
      const std::string sizes =
          fmt::format(R"({{"data":[{},true],"shape":[{}],"typestr":"<u4","version":3}})",
                      reinterpret_cast<std::uintptr_t>(group_sizes.data()), group_sizes.size());
      check(XGDMatrixSetInfoFromInterface(handle_, "group", sizes.c_str()), "take the groups");
    }
  } catch (...) {
    XGDMatrixFree(handle_);
    throw;
  }
}

TrainingMatrix::~TrainingMatrix() {
  XGDMatrixFree(handle_);
}

Booster::Booster(const TrainingMatrix& data, const BoosterParameters& parameters) {
  const DMatrixHandle matrix = data.handle();
  check(XGBoosterCreate(&matrix, 1, &handle_), "create a booster");
  try {
    for (const auto& [name, value] : kOfAll) set_parameter(handle_, name, value);
    for (const auto& [name, value] : parameters) set_parameter(handle_, name.c_str(), value.c_str());
  } catch (...) {
    XGBoosterFree(handle_);
    throw;
  }
}

Booster::~Booster() {
  if (handle_ != nullptr) XGBoosterFree(handle_);
}

void Booster::update(int round, const TrainingMatrix& data) {
  check(XGBoosterUpdateOneIter(handle_, round, data.handle()), "boost a round");
}

std::vector<double> Booster::predict(const FeatureMatrix& rows) const {
  if (rows.rows() == 0) return {};
  // type 0: values, not margins. Predicts in place, so that no matrix is built. The result belongs to the
  // booster until its next call.
  constexpr const char* kConfig =
      R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":false,"cache_id":0,"missing":NaN})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  check(XGBoosterPredictFromDense(handle_, array_interface(rows).c_str(), kConfig, nullptr, &shape,
                                  &dimensions, &values),
        "predict");
  return std::vector<double>(values, values + rows.rows());
}

std::size_t Booster::columns() const {
  bst_ulong columns = 0;
  check(XGBoosterGetNumFeature(handle_, &columns), "count columns");
  return columns;
}

std::vector<double> Booster::total_gain() const {
  bst_ulong used = 0, dimensions = 0;
  const char** names = nullptr;
  const bst_ulong* shape = nullptr;
  const float* gains = nullptr;
  check(XGBoosterFeatureScore(handle_, R"({"importance_type":"total_gain"})", &used, &names, &dimensions,
                              &shape, &gains),
        "tell the gain of its columns");
  std::vector<double> result(columns(), 0);
  // Columns without names of their own are called f0, f1, ...
  for (bst_ulong i = 0; i < used; ++i) result.at(std::stoul(names[i] + 1)) = static_cast<double>(gains[i]);
  return result;
}

std::string Booster::to_bytes() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  check(XGBoosterSaveModelToBuffer(handle_, R"({"format":"ubj"})", &size, &bytes), "save a model");
  return std::string(bytes, size);
}

BoosterParameters pairs_per_row(int pairs) {
  const std::string count = std::to_string(pairs);
  int major = 0, minor = 0, patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  if (major < 2) return {{"num_pairsample", count}};
  // From 2.0 on, the default compares each row with the head of the list. `mean` draws pairs from the whole
  // list, as 1.7 does. 1.7 has neither normalisation (XGBoost 3.0 documentation, "Learning to Rank" and
  // "Parameters for learning to rank").
  return {{"lambdarank_pair_method", "mean"},
          {"lambdarank_num_pair_per_sample", count},
          {"lambdarank_normalization", "0"},
          {"lambdarank_score_normalization", "0"}};
}

Boosted boost_until_held_out_stalls(const TrainingMatrix& data, const FeatureMatrix& held_out,
                                    const std::function<double(const std::vector<double>&)>& score,
                                    const BoosterParameters& parameters, int most_rounds) {
  Booster booster(data, parameters);
  double best_score = -std::numeric_limits<double>::infinity();
  int best_rounds = 0;
  int last_gain = 0;
  for (int round = 0; round < most_rounds; ++round) {
    booster.update(round, data);
    const int rounds = round + 1;
    if (rounds % kLookEvery != 0 && rounds != most_rounds) continue;
    const double now = score(booster.predict(held_out));
    if (now > best_score) last_gain = rounds;
    if (now >= best_score) {
      best_score = now;
      best_rounds = rounds;
    }
    if (rounds - last_gain >= kPatience) break;
  }
  return {best_rounds, best_score};
}

Booster boost(const TrainingMatrix& data, const BoosterParameters& parameters, int rounds) {
  Booster booster(data, parameters);
  for (int round = 0; round < rounds; ++round) booster.update(round, data);
  return booster;
}

}  // namespace lehr
