// ONNX files made by hand: a line of text for each thing in a graph.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "network/matches.h"

namespace lehr::testing {

/// Returns the bytes of a file with such a graph, of opset 17 and IR 8:
///   input x f32 1x3x8xW          a dimension that is no number is a name, "?" one without
///   output y
///   constant w f32 4x3x3x3       all elements 0.5; constant s s64 2 = 1 12 for certain ones
///   sparse w f32 4x8 = 3:0.5 9:2   the elements that are not 0; matches may be 0,3:0.5, too
///   y = Conv(x, w, ) pads=1,1,1,1 strides=2,2 auto_pad="VALID" alpha=0.5   an input may be left out
std::string onnx_bytes(std::string_view text, std::int64_t opset = 17, std::int64_t ir_version = 8);

/// Returns the same, read.
OnnxModel onnx_model(std::string_view text, std::int64_t opset = 17);

/// Returns the same with its shapes and matches.
Network network_of(std::string_view text);

}  // namespace lehr::testing
