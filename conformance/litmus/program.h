// Litmus programs as data: what each thread does, where the variables lie, and which outcomes are right.
//
// A program is written as in spec/semantics.md, one line of text for each thread:
//
//    x=1         store 1 in x                       r1=x      read x into r1
//    g=r1        store what r1 holds                r1=x+10   fetch-and-add 10 on x, r1 gets the value before
//    fence x     fence to the target of x           _=x+10    the same, the value before is not looked at
//    allfence                                       lock, unlock: of one mutex that all threads share
//    x,f=1       store 1 in x, flag f is 1 with it  r1=x?2    compare-and-swap from 0 to 2, r1 gets the value before
//    notify 1    tell thread 1                      await 0   wait for a notification of thread 0
//    wait        completes the thread's non-blocking stores and reads locally; nothing to do when they block
//
// In the non-blocking form of a program stores and reads are non-blocking, and complete at the next `wait`, or at the
// end of the thread. Variables are placed by letters: "x@A f@A y@B"; different letters are different targets. Or they
// are placed by threads: "x@P1" lies in the memory of thread 1. An outcome is the values of the registers at the end; a
// variable among the registers is its value after a barrier.
//
// Everything here is immutable after Parse.
#ifndef CONFORMANCE_LITMUS_PROGRAM_H_
#define CONFORMANCE_LITMUS_PROGRAM_H_

#include <string>
#include <vector>

#include "conformance/harness/plan.h"

namespace conformance::litmus {

// Acceptable: expected. Interesting: legal, and shows that the implementation uses a freedom it has. Forbidden: a
// violation of the clause named.
enum class Grade { kAcceptable, kInteresting, kForbidden };
const char* NameOf(Grade grade);

// One line of a table of outcomes; the first line that matches counts.
struct OutcomeRow {
  const char* values;  // a word for each register; ? is 0 or 1
  Grade grade;
  const char* reason;
  const char* clause = "";
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
  const char* name;
  const char* chapter;
  const char* prefix;  // of the test's name: ORD1
  std::vector<const char*> clauses;
  const char* places;
  std::vector<const char*> threads;
  const char* registers;
  std::vector<OutcomeRow> blocking;
  std::vector<OutcomeRow> nonblocking;  // empty: there is no such form
  Stores stores = Stores::kPutOrAcc;
  // Whether readers on the target's node may load instead of get: not where a clause speaks of gets only.
  bool loads = true;
  // Whether sizes between the smallest and the largest are tried: not where synchronisation alone makes the order.
  bool all_sizes = true;
  // Functions that a library may do without: where one is missing the tests are skipped.
  std::vector<const char*> needs = {};
  SpecialCalls calls = {};
};

// All programs that need the classic calls only.
const std::vector<Litmus>& Programs();
// Makes each a test in every form that applies; `programs` must live as long as the process. Returns true.
bool AddLitmusTests(const std::vector<Litmus>& programs);

enum class Act {
  kStore,
  kStoreFlag,
  kForward,
  kRead,
  kFetchAdd,
  kSwapZero,
  kFence,
  kAllFence,
  kLock,
  kUnlock,
  kNotify,
  kAwait,
  kWait
};

struct Step {
  Act act;
  int variable = -1;
  int reg = -1;  // written by kRead, kFetchAdd and kSwapZero, read by kForward; -1: none
  long value = 0;
  int flag = -1;    // of kStoreFlag: its variable
  int thread = -1;  // of kNotify and kAwait
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
  bool plain_numbers = false;  // some calls store numbers as they are
};

// A text that is no program ends the process: programs are written by hand, once.
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
