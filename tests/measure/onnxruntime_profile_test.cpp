// Tests of where a network's time goes, read from a profile of ONNX Runtime's. The file is a stranger's: a
// broken one reports nothing, and costs no more than its length.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "measure/vendor/onnxruntime/profile.h"

namespace lehr::onnxruntime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MATCHER_P2(Takes, op, us, "") {
  return arg.op == op && arg.us == us;
}

std::vector<NodeTime> times_of(const std::string& text, std::size_t warm_up = 0) {
  std::istringstream stream(text);
  return node_times(stream, warm_up);
}

std::string node(const std::string& op, double begin, double us) {
  return fmt::format(
      R"({{"cat" : "Node","dur" :{},"ts" :{},"name" :"n_kernel_time","args" : {{"op_name" : "{}"}}}},)", us,
      begin, op);
}
std::string inference(double begin, double us) {
  return fmt::format(R"({{"cat" : "Session","dur" :{},"ts" :{},"name" :"model_run","args" : {{}}}},)", us,
                     begin);
}
/// Returns a whole profile of such events.
std::string profile(std::string events) {
  events.pop_back();
  return "[\n" + events + "\n]\n";
}

// A profile as 1.17 writes it, which has fences; newer ones leave them out.
constexpr const char* kOfOneInference = R"([
{"cat" : "Session","pid" :4185,"tid" :4185,"dur" :1016,"ts" :6,"ph" : "X","name" :"session_initialization","args" : {}},
{"cat" : "Node","pid" :4185,"tid" :4185,"dur" :0,"ts" :6850,"ph" : "X","name" :"Relu_1_fence_before","args" : {"op_name" : "Relu"}},
{"cat" : "Node","pid" :4185,"tid" :4185,"dur" :18,"ts" :6853,"ph" : "X","name" :"Relu_1_kernel_time","args" : {"op_name" : "Relu","provider" : "CPUExecutionProvider","input_type_shape" : [{"float":[20,4,256]}],"thread_scheduling_stats" : ""}},
{"cat" : "Node","pid" :4185,"tid" :4185,"dur" :7,"ts" :6871,"ph" : "X","name" :"Relu_1_fence_after","args" : {"op_name" : "Relu"}},
{"cat" : "Node","pid" :4185,"tid" :4185,"dur" :122,"ts" :6880,"ph" : "X","name" :"LSTM_2_kernel_time","args" : {"op_name" : "LSTM"}},
{"cat" : "Session","pid" :4185,"tid" :4185,"dur" :161,"ts" :6849,"ph" : "X","name" :"SequentialExecutor::Execute","args" : {}},
{"cat" : "Session","pid" :4185,"tid" :4185,"dur" :169,"ts" :6844,"ph" : "X","name" :"model_run","args" : {}}
]
)";

TEST(Profile, TellsWhatEachNodeTakes) {
  const std::vector<NodeTime> times = times_of(kOfOneInference);
  ASSERT_THAT(times, ElementsAre(Takes("Relu", 18), Takes("LSTM", 122)));
  EXPECT_EQ(times[0].name, "Relu_1");
}

TEST(Profile, SumsUpNodesOfANameAndTakesTheLeastOfAllInferences) {
  std::string events;
  double begin = 0;
  for (const double us : {900, 10, 30, 20}) {  // the first one warms up
    events += node("Conv", begin, us) + node("Conv", begin + us, us) + inference(begin, 1000);
    begin += 10000;
  }
  events += node("Conv", begin, 70) + node("If", begin + 70, 5) + inference(begin, 1000);
  EXPECT_THAT(times_of(profile(events), 1), ElementsAre(Takes("Conv", 20), Takes("If", 0)));
}

TEST(Profile, CountsTheNodesOfASubgraphToTheirOwner) {
  // The owner is written when it is done, behind its nodes. The next node begins in the microsecond in which
  // it ends.
  const std::string events = node("MatMul", 10, 30) + node("Tanh", 40, 10) + node("Loop", 10, 60) +
                             node("Softmax", 70, 5) + inference(5, 100);
  EXPECT_THAT(times_of(profile(events)),
              ElementsAre(Takes("Loop", 60), Takes("MatMul", 0), Takes("Tanh", 0), Takes("Softmax", 5)));
}

TEST(Profile, OfWhatIsBrokenNothingIsRead) {
  EXPECT_THAT(times_of(""), IsEmpty());
  EXPECT_THAT(times_of("{}"), IsEmpty());
  EXPECT_THAT(times_of("[]"), IsEmpty());
  EXPECT_THAT(times_of(kOfOneInference, 1), IsEmpty()) << "no inference is left behind the warm-up";
  const std::string whole = kOfOneInference;
  for (std::size_t size = 0; size + 2 < whole.size(); size += 7)
    EXPECT_THAT(times_of(whole.substr(0, size)), IsEmpty()) << size;
  std::ifstream none("/nonexistent");
  EXPECT_THAT(node_times(none, 0), IsEmpty());
}

TEST(Profile, EventsOfAnotherFormAreLeftOut) {
  std::string events = inference(0, 100) + node("Conv", 10, 20) + "7,null,[],[[{}]],{},";
  events += R"({"cat":"Node"},{"cat":7,"name":[],"ts":"0","dur":{}},)";
  events += R"({"cat":"Node","name":"n_kernel_time","ts":1,"dur":1,"args":[{"op_name":"A"}]},)";
  events += R"({"cat":"Node","name":"n_kernel_time","ts":1,"dur":1,"args":{"op_name":3}},)";
  events += node("B", -1, 5) + node("B", 1, -5) + node("B", 1e308, 1e308);
  EXPECT_THAT(times_of(profile(events)), ElementsAre(Takes("Conv", 20)));
}

TEST(Profile, DepthAndManyNamesCostNoMoreThanTheirLength) {
  EXPECT_THAT(times_of(std::string(1 << 20, '[')), IsEmpty());
  // There are as many operators as inferences: a table of all of both would have 400 million cells.
  std::string events;
  constexpr int kMany = 20000;
  for (int i = 0; i < kMany; ++i) events += node(fmt::format("op{}", i), 10 * i, 5) + inference(10 * i, 9);
  EXPECT_EQ(times_of(profile(events)).size(), static_cast<std::size_t>(kMany));
}

}  // namespace
}  // namespace lehr::onnxruntime
