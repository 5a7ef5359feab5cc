// One task's session with all that belongs to it: its space, tuner, features and prior.
#pragma once

#include <memory>

#include "costmodel/roofline_model.h"
#include "tune/knob_features.h"
#include "tune/session.h"
#include "tune/session_impl.h"
#include "tune/tuner.h"

namespace lehr {

class TaskRun {
 public:
  /// `options` and `parts` hold what all tasks of a run have in common; what follows from the task (tuner,
  /// features, probes) is filled in here. `options.strategy` names the tuner. Throws as candidates_for().
  TaskRun(Task task, SessionOptions options, SessionParts parts);
  TaskRun(const TaskRun&) = delete;  // the session borrows the other members

  /// The whole of it, as run_session() does.
  Summary run() { return session_->run(); }
  /// For sessions that take turns (many_tasks.h).
  Session& session() { return *session_; }
  const Session& session() const { return *session_; }

 private:
  const Task task_;
  const Candidates candidates_;
  const Tuner tuner_;
  const KnobFeatures raw_knobs_;
  const RooflineModel prior_;
  SessionOptions options_;
  SessionParts parts_;
  std::unique_ptr<Session> session_;
};

}  // namespace lehr
