// Names what draws in nearly all of the libraries: the linker has to find everything that these need.
#include <cstdio>

#include "costmodel/xgboost_model.h"
#include "deploy/winners.h"
#include "measure/worker/baselines.h"
#include "search/make_strategy.h"
#include "tune/session.h"

int main() {
  const lehr::Database log = lehr::Database::open(":memory:");
  const lehr::XgboostModel model;
  const auto volatile tune = &lehr::Session::run;
  std::printf("%zu winners, strategy %s, baseline %s, model of %zu columns, %s\n",
              lehr::winners(log, {}).size(), lehr::strategy_names().front().c_str(),
              lehr::baseline_names({}).front().c_str(), model.gain_shares().size(),
              tune != nullptr ? "session" : "");
}
