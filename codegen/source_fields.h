// The members of a source and of its parts, listed once (base/describe.h). Its hash and the messages to
// workers follow from these lists. Each function names all members of its struct, so that a new one does not
// compile before it is listed.
#pragma once

#include "base/describe.h"
#include "codegen/source.h"

namespace lehr::ir {

void describe(auto& field, Is<Im2col> auto& map) {
  auto& [pixels, lower, upper, step] = map;
  field("pixels", pixels);
  field("lower", lower);
  field("upper", upper);
  field("step", step);
}

void describe(auto& field, Is<TensorMap> auto& map) {
  auto& [rank, dims, strides, box, im2col, swizzle, tf32] = map;
  field("rank", rank);
  field("dims", dims);
  field("strides", strides);
  field("box", box);
  field("im2col", im2col);
  field("swizzle", swizzle);
  field("tf32", tf32);
}

void describe(auto& field, Is<Launch> auto& launch) {
  auto& [grid, block, shared_bytes, work_items, further_steps, prepack_work_items, cluster, programmatic] =
      launch;
  field("grid", grid);
  field("block", block);
  field("shared_bytes", shared_bytes);
  field("tasks", work_items);
  field("further_steps", further_steps);
  field("prepack_tasks", prepack_work_items);
  field("cluster", cluster);
  field("programmatic", programmatic);
}

}  // namespace lehr::ir

namespace lehr {

void describe(auto& field, Is<SourceParam> auto& param) {
  auto& [name, type, elements, direction, map] = param;
  field("name", name);
  field("type", type);
  field("elements", elements);
  field("direction", direction);
  field("map", map);
}

void describe(auto& field, Is<Source> auto& source) {
  auto& [target, text, entry, params, launch, scratch_bytes, most_rows] = source;
  field("target", target);
  field("text", text);
  field("entry", entry);
  field("params", params);
  field("launch", launch);
  field("scratch_bytes", scratch_bytes);
  field("most_rows", most_rows);
}

}  // namespace lehr
