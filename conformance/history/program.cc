#include "conformance/history/program.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace conformance::history {
namespace {

constexpr int kElement = 8;
// Holes between the segments in the local buffer, so that both sides are really strided.
constexpr int kLocalHole = 8;

int OffsetOf(const Program& program, int cell) { return program.cells[static_cast<std::size_t>(cell)].offset; }

// Bytes from the first to the last cell of each row, holes between the cells included.
int RowBytes(const Program& program, const Step& step) {
  const auto last = static_cast<std::size_t>(step.row_cells) - 1;
  return OffsetOf(program, step.cells[last]) - OffsetOf(program, step.cells[0]) + kElement;
}

std::string Hex(long value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(value));
  return text;
}

std::string HandleText(const Step& step) {
  if (step.mode == Mode::kBlocking) return "";
  if (step.mode == Mode::kImplicit) return ", implicit";
  return (step.mode == Mode::kAggregate ? ", aggregate handle " : ", handle ") + std::to_string(step.handle);
}

std::string CallText(const Step& step) {
  static constexpr const char* kSuffix[] = {"", "S", "V", "Value"};
  const std::string suffix = kSuffix[static_cast<int>(step.shape)];
  const std::string nb = step.mode == Mode::kBlocking ? "" : "Nb";
  switch (step.kind) {
    case Kind::kPut:
      return nb + "Put" + suffix;
    case Kind::kGet:
      return nb + "Get" + suffix;
    case Kind::kAccumulate:
      return nb + "Acc" + suffix;
    case Kind::kLoad:
      return "load";
    case Kind::kFetchAndAdd:
      return "Rmw fetch-and-add";
    default:
      return "Rmw swap";
  }
}

std::string AccessText(const Program& program, const Step& step) {
  std::string text = CallText(step) + " at rank " + std::to_string(step.target) + ":";
  for (std::size_t i = 0; i < step.cells.size(); ++i) {
    text += " cell " + std::to_string(step.cells[i]);
    const bool counter = IsCounter(program.cells[static_cast<std::size_t>(step.cells[i])].role);
    const std::string value = !Stores(step.kind) ? "" : counter ? std::to_string(step.values[i]) : Hex(step.values[i]);
    if (Stores(step.kind)) text += (Replaces(step.kind) ? " = " : " += ") + value;
    text += i + 1 < step.cells.size() ? "," : "";
  }
  const std::size_t bytes =
      step.cells.size() / static_cast<std::size_t>(step.row_cells) * static_cast<std::size_t>(RowBytes(program, step));
  if (bytes > kElement * step.cells.size()) text += " (" + std::to_string(bytes) + " bytes)";
  if (step.kind == Kind::kAccumulate && step.scale != 1) text += ", scale " + std::to_string(step.scale);
  return text + HandleText(step);
}

std::string MutexText(const Program& program, const Step& step) {
  return "mutex " + std::to_string(step.number) + " of rank " + std::to_string(program.MutexHost(step.number));
}

std::string ActionText(const Program& program, const Step& step) {
  const std::string peer = std::to_string(step.target);
  switch (step.kind) {
    case Kind::kWait:
      return step.handle == kImplicitHandle ? "WaitAll" : "Wait handle " + std::to_string(step.handle);
    case Kind::kFence:
      return "Fence " + peer;
    case Kind::kAllFence:
      return "AllFence";
    case Kind::kLock:
      return "Lock " + MutexText(program, step);
    case Kind::kUnlock:
      return "Unlock " + MutexText(program, step);
    case Kind::kNotify:
      return "notify " + peer;
    case Kind::kAwait:
      return "notify_wait for " + peer;
    case Kind::kSend:
      return "MPI message to " + peer;
    case Kind::kReceive:
      return "MPI message from " + peer;
    case Kind::kBarrier:
      return "ARMCI_Barrier";
    case Kind::kMpiBarrier:
      return "MPI_Barrier";
    case Kind::kPause:
      return "pause " + std::to_string(step.number);
    default:
      return AccessText(program, step);
  }
}

}  // namespace

bool Reads(Kind kind) { return kind == Kind::kGet || kind == Kind::kLoad || IsRmw(kind); }

bool Stores(Kind kind) { return kind == Kind::kPut || kind == Kind::kAccumulate || IsRmw(kind); }

std::vector<int> CompletedBy(const Program& program) {
  const int end = static_cast<int>(program.steps.size());
  std::vector<int> completed_by(program.steps.size());
  std::map<std::pair<int, int>, int> next_wait;  // (rank, handle): the first wait behind here
  for (int at = end - 1; at >= 0; --at) {
    const Step& step = program.steps[static_cast<std::size_t>(at)];
    int by = at;
    if (step.kind == Kind::kWait) {
      next_wait[{step.rank, step.handle}] = at;
    } else if (Accesses(step.kind) && step.mode != Mode::kBlocking) {
      const auto found = next_wait.find({step.rank, step.handle});
      by = found == next_wait.end() ? end : found->second;
    }
    completed_by[static_cast<std::size_t>(at)] = by;
  }
  return completed_by;
}

Plan PlanOf(const Program& program, const Step& step) {
  Plan plan;
  plan.shape = step.shape;
  const bool incoming = step.kind == Kind::kGet || step.kind == Kind::kLoad;
  const int first = OffsetOf(program, step.cells[0]);
  const auto width = static_cast<std::size_t>(step.row_cells);
  const int row_bytes = RowBytes(program, step);
  int local = 0;
  for (std::size_t i = 0; i < step.cells.size(); i += width) {
    const int remote = OffsetOf(program, step.cells[i]) - first;
    plan.segments.push_back(
        {incoming ? remote : local, incoming ? local : remote, static_cast<std::size_t>(row_bytes)});
    local += row_bytes + kLocalHole;
  }
  const int rows = static_cast<int>(plan.segments.size());
  plan.count = {row_bytes};
  if (step.shape == Shape::kStrided) {
    plan.count.push_back(rows);
    plan.src_stride = {rows > 1 ? static_cast<int>(plan.segments[1].src) : row_bytes};
    plan.dst_stride = {rows > 1 ? static_cast<int>(plan.segments[1].dst) : row_bytes};
  }
  if (step.shape == Shape::kVector) plan.descriptors = {rows};
  return plan;
}

std::vector<int> LocalOffsets(const Program& program, const Step& step) {
  const int row_bytes = RowBytes(program, step);
  std::vector<int> offsets;
  for (std::size_t i = 0; i < step.cells.size(); ++i) {
    const auto row = static_cast<int>(i) / step.row_cells;
    const int row_start = OffsetOf(program, step.cells[static_cast<std::size_t>(row * step.row_cells)]);
    offsets.push_back(row * (row_bytes + kLocalHole) + OffsetOf(program, step.cells[i]) - row_start);
  }
  return offsets;
}

int LocalBytes(const Program& program, const Step& step) {
  const int rows = static_cast<int>(step.cells.size()) / step.row_cells;
  return rows * (RowBytes(program, step) + kLocalHole);
}

std::string TextOf(const Program& program, std::size_t at) {
  const Step& step = program.steps[at];
  const std::string ranks = step.rank == kEveryone ? "all ranks" : "rank " + std::to_string(step.rank);
  return "step " + std::to_string(at) + ", " + ranks + ": " + ActionText(program, step);
}

std::string TextOf(const Program& program) {
  std::string text;
  for (std::size_t at = 0; at < program.steps.size(); ++at) text += "  " + TextOf(program, at) + "\n";
  return text;
}

}  // namespace conformance::history
