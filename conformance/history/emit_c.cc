#include "conformance/history/emit_c.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "conformance/history/emit_c_template.h"
#include "conformance/history/emit_rules.h"

namespace conformance::history {
namespace {

std::string Text(long number) { return std::to_string(number); }

std::string Joined(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ", ") + Text(numbers[i]);
  return text;
}

class Emitter {
 public:
  explicit Emitter(const Program& program)
      : program_(program), completed_by_(CompletedBy(program)), slots_(SlotsOf(program)) {}

  std::string Write(const std::string& story) {
    std::string ranks;
    for (int rank = 0; rank < program_.ranks; ++rank) ranks += RankFunction(rank);
    const Rules rules = RulesOf(program_, slots_);
    std::string calls;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      calls += "      case " + Text(rank) + ": rank_" + Text(rank) + "(); break;\n";
    }
    const std::map<std::string, std::string> parts{
        {"STORY", story},
        {"RANKS", Text(program_.ranks)},
        {"PART_BYTES", Text(program_.cells.back().offset + 8)},
        {"SLOTS", Text(static_cast<long>(slots_.size()) + 1)},
        {"SECTIONS", Text(std::max<long>(static_cast<long>(sections_.size()), 1))},
        {"REQUESTS", Text(requests_ + 1)},
        {"ORDERS", Text(rules.orders)},
        {"CELLS", CellRows()},
        {"LEGAL", rules.legal},
        {"OLDER", rules.older},
        {"PAIRS", rules.pairs},
        {"RMWS", rmws_},
        {"MUTEXES", section_rows_},
        {"BUFFERS", buffers_},
        {"RANK_FUNCTIONS", ranks},
        {"RANK_CALLS", calls},
    };
    return Fill(kTemplate, parts);
  }

 private:
  static std::string Fill(std::string text, const std::map<std::string, std::string>& parts) {
    for (const auto& [name, value] : parts) {
      const std::string mark = "@" + name + "@";
      for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
        text.replace(at, mark.size(), value);
      }
    }
    return text;
  }

  const Step& StepAt(int at) const { return program_.steps[static_cast<std::size_t>(at)]; }

  // The cells that the program touches, with the values they start with.
  std::string CellRows() const {
    std::map<int, std::string> rows;
    for (const Step& step : program_.steps) {
      for (int cell : step.cells) {
        const int location = program_.Location(step.target, cell);
        rows[location] = "    {" + Text(step.target) + ", " +
                         Text(program_.cells[static_cast<std::size_t>(cell)].offset) + ", " +
                         HexLiteral(InitialValue(program_, location)) + "},\n";
      }
    }
    std::string text;
    for (const auto& [location, row] : rows) text += row;
    return text;
  }

  std::string RankFunction(int rank) {
    body_.str("");
    const int end = static_cast<int>(program_.steps.size());
    for (int at = 0; at < end; ++at) {
      if (StepAt(at).rank == rank || StepAt(at).rank == kEveryone) EmitStep(at);
    }
    // All operations without a wait.
    Line("ARMCI_WaitAll();");
    for (int handle = 0; handle < kHandles; ++handle) Line("finish(" + Text(handle) + ");");
    for (int at = 0; at < end; ++at) {
      if (StepAt(at).rank == rank && completed_by_[static_cast<std::size_t>(at)] == end) Complete(at);
    }
    return "static void rank_" + Text(rank) + "(void) {\n" + body_.str() + "}\n\n";
  }

  void Line(const std::string& text) { body_ << "  " << text << "\n"; }

  void EmitStep(int at) {
    const Step& step = StepAt(at);
    const std::string peer = Text(step.target);
    const std::string token = "&token, 1, MPI_INT, " + peer + ", " + Text(step.unit % 32768) + ", MPI_COMM_WORLD, ";
    switch (step.kind) {
      case Kind::kWait:
        Line(step.handle == kImplicitHandle ? "ARMCI_WaitAll();" : "finish(" + Text(step.handle) + ");");
        for (int i = 0; i < at; ++i) {
          if (completed_by_[static_cast<std::size_t>(i)] == at) Complete(i);
        }
        return;
      case Kind::kFence:
        return Line("ARMCI_Fence(" + peer + ");");
      case Kind::kAllFence:
        return Line("ARMCI_AllFence();");
      case Kind::kLock:
      case Kind::kUnlock:
        return EmitMutex(step);
      case Kind::kNotify:
        return Line("armci_notify(" + peer + ");");
      case Kind::kAwait:
        return Line("{ int count; armci_notify_wait(" + peer + ", &count); }");
      case Kind::kSend:
        return Line("MPI_Isend(" + token + "&requests[" + Text(requests_++) + "]);");
      case Kind::kReceive:
        return Line("MPI_Recv(" + token + "MPI_STATUS_IGNORE);");
      case Kind::kBarrier:
        return Line("ARMCI_Barrier();");
      case Kind::kMpiBarrier:
        return Line("MPI_Barrier(MPI_COMM_WORLD);");
      case Kind::kPause:
        return Line("linger(" + Text(step.number) + ");");
      default:
        return EmitAccess(at);
    }
  }

  void EmitMutex(const Step& step) {
    const std::string mutex = Text(step.number) + ", " + Text(program_.MutexHost(step.number));
    const auto [entry, fresh] = sections_.emplace(step.unit, static_cast<int>(sections_.size()));
    const std::string section = Text(entry->second);
    if (fresh) section_rows_ += "    " + Text(step.number) + ",\n";
    if (step.kind == Kind::kLock) {
      Line("ARMCI_Lock(" + mutex + "); held_from[" + section + "] = now();");
    } else {
      Line("held_to[" + section + "] = now(); ARMCI_Unlock(" + mutex + ");");
    }
  }

  std::string Slot(int at, std::size_t index) const { return Text(slots_.at({at, static_cast<int>(index)})); }
  int Offset(int cell) const { return program_.cells[static_cast<std::size_t>(cell)].offset; }

  void EmitAccess(int at) {
    const Step& step = StepAt(at);
    const std::string remote = "base[" + Text(step.target) + "] + " + Text(Offset(step.cells[0]));
    Line("/* " + TextOf(program_, static_cast<std::size_t>(at)) + " */");
    if (IsRmw(step.kind)) return EmitRmw(at, remote);
    if (step.kind == Kind::kLoad) {
      for (std::size_t i = 0; i < step.cells.size(); ++i) {
        Line("seen[" + Slot(at, i) + "] = *(volatile long *)(base[" + Text(step.target) + "] + " +
             Text(Offset(step.cells[i])) + ");");
      }
      return;
    }
    const std::string buffer = "b" + Text(at);
    buffers_ += "static long " + buffer + "[" + Text(LocalBytes(program_, step) / 8) + "];\n";
    const std::vector<int> offsets = LocalOffsets(program_, step);
    Line("memset(" + buffer + ", " + (step.kind == Kind::kGet ? Text(kPoison) : "0") + ", sizeof " + buffer + ");");
    for (std::size_t i = 0; Stores(step.kind) && i < step.cells.size(); ++i) {
      Line(buffer + "[" + Text(offsets[i] / 8) + "] = " + HexLiteral(step.values[i] / step.scale) + ";");
    }
    if (step.mode == Mode::kAggregate) Line("gather(" + Text(step.handle) + ");");
    EmitCall(step, buffer, remote);
    if (step.mode == Mode::kBlocking) Complete(at);
  }

  void EmitCall(const Step& step, const std::string& buffer, const std::string& remote) {
    const bool blocking = step.mode == Mode::kBlocking;
    const bool get = step.kind == Kind::kGet;
    const std::string source = get ? remote : buffer;
    const std::string destination = get ? buffer : remote;
    const std::string handle = step.mode == Mode::kImplicit ? "NULL" : "&handles[" + Text(step.handle) + "]";
    const std::string tail = Text(step.target) + (blocking ? "" : ", " + handle) + ")";
    const bool acc = step.kind == Kind::kAccumulate;
    const std::string name = std::string(blocking ? "ARMCI_" : "ARMCI_Nb") + (get ? "Get" : acc ? "Acc" : "Put");
    const std::string first = acc ? "ARMCI_ACC_LNG, &scale, " : "";
    const std::string scale = acc ? "long scale = " + Text(step.scale) + "; " : "";
    const Plan plan = PlanOf(program_, step);
    switch (step.shape) {
      case Shape::kStrided:
        return Line("{ " + scale + "int ss[] = {" + Joined(plan.src_stride) + "}, ds[] = {" + Joined(plan.dst_stride) +
                    "}, count[] = {" + Joined(plan.count) + "}; must(" + name + "S(" + first + source + ", ss, " +
                    destination + ", ds, count, 1, " + tail + "); }");
      case Shape::kVector:
        return Line("{ " + scale + VectorText(plan, source, destination) + " must(" + name + "V(" + first + "&v, 1, " +
                    tail + "); }");
      case Shape::kValue:
        if (get) return Line(buffer + "[0] = ARMCI_GetValueLong(" + remote + ", " + tail + ";");
        return Line("must(" + name + "ValueLong(" + buffer + "[0], " + remote + ", " + tail + ");");
      default:
        return Line("{ " + scale + "must(" + name + "(" + first + source + ", " + destination + ", " +
                    Text(plan.count[0]) + ", " + tail + "); }");
    }
  }

  static std::string VectorText(const Plan& plan, const std::string& source, const std::string& destination) {
    std::string from;
    std::string to;
    for (const Segment& segment : plan.segments) {
      from += (from.empty() ? "" : ", ") + ("(char *)(" + source + ") + " + Text(segment.src));
      to += (to.empty() ? "" : ", ") + ("(char *)(" + destination + ") + " + Text(segment.dst));
    }
    // Field by field: not every armci.h has them in the same order.
    return "void *from[] = {" + from + "}, *to[] = {" + to +
           "}; armci_giov_t v; v.src_ptr_array = from; v.dst_ptr_array = to; v.bytes = " +
           Text(static_cast<long>(plan.segments[0].bytes)) +
           "; v.ptr_array_len = " + Text(static_cast<long>(plan.segments.size())) + ";";
  }

  void EmitRmw(int at, const std::string& remote) {
    const Step& step = StepAt(at);
    const Role role = program_.cells[static_cast<std::size_t>(step.cells[0])].role;
    const bool swap = step.kind == Kind::kSwap;
    const bool narrow = role == Role::kCounterInt;
    const std::string slot = Slot(at, 0);
    const std::string initial = IsCounter(role) ? Text(step.values[0]) : HexLiteral(step.values[0]);
    const std::string operation = std::string(swap ? "ARMCI_SWAP" : "ARMCI_FETCH_AND_ADD") + (narrow ? "" : "_LONG");
    Line(std::string("{ ") + (narrow ? "int" : "long") + " value = " + (swap ? initial : "0") + "; began[" + slot +
         "] = now(); must(ARMCI_Rmw(" + operation + ", &value, " + remote + ", " + (swap ? "0" : Text(step.values[0])) +
         ", " + Text(step.target) + ")); ended[" + slot + "] = now(); seen[" + slot + "] = value; }");
    if (!IsCounter(role)) return;
    rmws_ += "    {" + Text(step.rank) + ", " + slot + ", " + Text(program_.Location(step.target, step.cells[0])) +
             ", " + Text(narrow ? 4 : 8) + ", " + (swap ? "1" : "0") + ", " + Text(step.values[0]) + "},\n";
  }

  // The buffer of the operation belongs to the program again.
  void Complete(int at) {
    const Step& step = StepAt(at);
    if (step.kind == Kind::kLoad || IsRmw(step.kind)) return;
    const std::string buffer = "b" + Text(at);
    if (step.kind != Kind::kGet) {
      return Line("memset(" + buffer + ", " + Text(kPoison) + ", sizeof " + buffer + ");");
    }
    const std::vector<int> offsets = LocalOffsets(program_, step);
    for (std::size_t i = 0; i < step.cells.size(); ++i) {
      Line("seen[" + Slot(at, i) + "] = " + buffer + "[" + Text(offsets[i] / 8) + "];");
    }
  }

  const Program& program_;
  const std::vector<int> completed_by_;
  const Slots slots_;
  std::map<int, int> sections_;  // of each unit, the number of its critical section
  std::ostringstream body_;
  std::string buffers_;
  std::string section_rows_;
  std::string rmws_;
  int requests_ = 0;
};

}  // namespace

std::string EmitC(const Program& program, const std::string& story) { return Emitter(program).Write(story); }

}  // namespace conformance::history
