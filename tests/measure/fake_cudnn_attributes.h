// The attributes of the fake cuDNN's descriptors. Numbers as in cudnn_graph.h of cuDNN 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace fake {

/// cudnnBackendAttributeType_t and the bytes of its elements.
enum Type {
  kHandle,
  kDataType,
  kBoolean,
  kInt64,
  kFloat,
  kDouble,
  kPointer,
  kConvolutionMode,
  kHeuristicMode
};
inline constexpr int kPointwiseMode = 14, kDescriptor = 15;
inline const std::map<int, std::size_t> kBytes = {
    {kHandle, 8},        {kDataType, 4},      {kBoolean, 1},   {kInt64, 8},
    {kFloat, 4},         {kDouble, 8},        {kPointer, 8},   {kConvolutionMode, 4},
    {kHeuristicMode, 4}, {kPointwiseMode, 4}, {kDescriptor, 8}};

/// The attributes of each kind of descriptor that must be set, with their types and how many elements they
/// have; 0 elements: any number.
struct Attribute {
  int type = 0;
  std::int64_t count = 1;
  bool optional = false;
};
inline const std::map<int, std::map<int, Attribute>> kKinds = {
    {0, {{0, {kPointwiseMode}}, {1, {kDataType}}, {3, {kDouble, 1, true}}, {4, {kDouble, 1, true}}}},
    {1,
     {{100, {kDataType}},
      {101, {kConvolutionMode}},
      {102, {kInt64, 2}},
      {103, {kInt64, 2}},
      {104, {kInt64, 2}},
      {105, {kInt64, 2}},
      {106, {kInt64}}}},
    {2, {}},
    {3, {}},
    {4, {{200, {kHeuristicMode}}, {201, {kDescriptor}}}},
    {5, {{400, {kHandle}}, {401, {kDescriptor}}}},
    {7, {}},
    {10,
     {{700, {kFloat}},
      {701, {kFloat}},
      {702, {kDescriptor}},
      {703, {kDescriptor}},
      {704, {kDescriptor}},
      {705, {kDescriptor}}}},
    {13, {{750, {kDescriptor}}, {751, {kDescriptor}}, {752, {kDescriptor, 1, true}}, {753, {kDescriptor}}}},
    {15, {{800, {kHandle}}, {801, {kDescriptor, 0}}}},
    {16, {{1000, {kInt64, 0}}, {1001, {kPointer, 0}}, {1003, {kPointer}}}},
    {17,
     {{900, {kInt64}},
      {901, {kDataType}},
      {902, {kInt64, 4}},
      {903, {kInt64, 4}},
      {906, {kInt64}},
      {907, {kBoolean}}}},
};

}  // namespace fake
