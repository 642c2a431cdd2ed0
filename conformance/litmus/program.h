// Litmus programs as data: what each thread does, where the variables lie, and which outcomes are right.
//
// spec/model/program.py describes the text; spec/model/model.py says which outcomes are right, and tables.py makes the
// programs here of both. In the non-blocking form of a program all stores and reads are non-blocking.
//
// Everything here is immutable after Parse.
#ifndef CONFORMANCE_LITMUS_PROGRAM_H_
#define CONFORMANCE_LITMUS_PROGRAM_H_

#include <string>
#include <vector>

#include "conformance/harness/plan.h"

namespace conformance::litmus {

// Acceptable: some order of all steps gives it. Interesting: legal besides, so it shows that the implementation uses a
// freedom that it has. Forbidden: a violation of the clauses named.
enum class Grade { kAcceptable, kInteresting, kForbidden };
const char* NameOf(Grade grade);

struct OutcomeRow {
  std::string values;  // a number for each register
  Grade grade;
  std::string clauses = "";
};

// How the stores of a program may be made.
enum class Stores {
  kPut,       // a variable is written twice or by RMW as well
  kPutOrAcc,  // each variable is written once: accumulating to 0 writes the value
  kAcc,       // accumulate only
  kNone,      // no store at all
  // By calls of their own, for data and flag together.
  kContiguousFlag,           // contiguous only
  kContiguousOrStridedFlag,  // contiguous or strided
};

// Calls that not every library has: only the programs that need them name them. Both return the call's code.
struct SpecialCalls {
  // Moves `plan` and then stores 1 in the flag, of 4 or 8 bytes; may be non-blocking without a handle.
  int (*put_flag)(const Plan& plan, char* src, char* dst, char* flag, int proc, bool nonblocking) = nullptr;
  // Stores `value` if the long at `at` is 0; the value before to `before`.
  int (*swap_zero)(long* before, long value, char* at, int proc) = nullptr;
};

struct Litmus {
  std::string name;
  std::string chapter;
  std::string prefix;  // of the test's name: ORD1
  std::vector<std::string> clauses;
  std::string places;
  std::vector<std::string> threads;
  std::string registers;
  std::vector<OutcomeRow> blocking;
  std::vector<OutcomeRow> nonblocking;  // empty: there is no such form
  Stores stores = Stores::kPutOrAcc;
  // Whether readers on the target's node may load instead of get: not where a clause speaks of gets only.
  bool loads = true;
  // Whether sizes between the smallest and the largest are tried: not where synchronisation alone makes the order.
  bool all_sizes = true;
  // Functions that a library may do without: where one is missing the tests are skipped.
  std::vector<std::string> needs = {};
  SpecialCalls calls = {};
};

// The named programs: those that need the classic calls only, and the others.
const std::vector<Litmus>& Programs();
const std::vector<Litmus>& ExtensionPrograms();
// Calls of theirs. PutSignal and SwapZero take armcix.h.
int PutFlag(const Plan& plan, char* src, char* dst, char* flag, int proc, bool nonblocking);
int PutSignal(const Plan& plan, char* src, char* dst, char* flag, int proc, bool nonblocking);
int SwapZero(long* before, long value, char* at, int proc);
// Makes each a test in every form that applies; `programs` must live as long as the process. Returns true.
bool AddLitmusTests(const std::vector<Litmus>& programs);

enum class Act {
  kStore,
  kStoreFlag,
  kForward,
  kAccumulate,
  kRead,
  kFetchAdd,
  kSwapZero,
  kFence,
  kAllFence,
  kLock,
  kUnlock,
  kNotify,
  kAwait,
  kSend,
  kReceive,
  kBarrier,
  kWait
};

struct Step {
  Act act;
  int variable = -1;
  int reg = -1;  // written by kRead, kFetchAdd and kSwapZero, read by kForward; -1: none
  long value = 0;
  int flag = -1;    // of kStoreFlag: its variable
  int thread = -1;  // of kNotify, kAwait, kSend and kReceive
  bool nonblocking = false;
};

struct Variable {
  std::string name;
  int letter;            // 0 for A
  bool is_flag = false;  // written as the flag of a store
};

struct Program {
  std::vector<Variable> variables;
  std::vector<std::string> registers;
  std::vector<int> final_variable;  // of each register: the variable whose value after a barrier it is, or -1
  std::vector<std::vector<Step>> threads;
  int letters = 0;
  bool letters_are_threads = false;  // letter n is thread n
  bool locks = false;
  bool barriers = false;
  bool plain_numbers = false;  // some calls store numbers as they are
};

// A text that is no program ends the process: a tool has made them.
Program Parse(const Litmus& litmus);
// "P0: x=1; f=1 | P1: r1=f; r2=x"
std::string TextOf(const Litmus& litmus);

// "r1=1 r2=0"
std::string OutcomeText(const Program& program, const std::vector<std::string>& values);
// The verdict of the table; an outcome that is not in it is forbidden.
OutcomeRow Judge(const std::vector<OutcomeRow>& table, const std::vector<std::string>& values);
std::vector<std::string> Words(const std::string& text);

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_PROGRAM_H_
