// Litmus programs as data: what each thread does, where the variables lie, and which outcomes are right.
//
// A program is written as in spec/semantics.md, one line of text for each thread:
//
//    x=1         store 1 in x                       r1=x      read x into r1
//    g=r1        store what r1 holds                r1=x+10   fetch-and-add 10 on x, r1 gets the value before
//    fence x     fence to the target of x           _=x+10    the same, the value before is not looked at
//    allfence                                       lock, unlock: of one mutex that all threads share
//    wait        completes the thread's non-blocking stores and reads locally; nothing to do when they block
//
// In the non-blocking form of a program stores and reads are non-blocking, and complete at the next `wait`, or at the
// end of the thread. Variables are placed by letters: "x@A f@A y@B"; different letters are different targets. An
// outcome is the values of the registers at the end; a variable among the registers is its value after a barrier.
//
// Everything here is immutable after Parse.
#ifndef CONFORMANCE_LITMUS_PROGRAM_H_
#define CONFORMANCE_LITMUS_PROGRAM_H_

#include <string>
#include <vector>

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
};

// All programs.
const std::vector<Litmus>& Programs();

enum class Act { kStore, kForward, kRead, kFetchAdd, kFence, kAllFence, kLock, kUnlock, kWait };

struct Step {
  Act act;
  int variable = -1;
  int reg = -1;  // written by kRead and kFetchAdd, read by kForward; -1: none
  long value = 0;
};

struct Variable {
  std::string name;
  int letter;  // 0 for A
};

struct Program {
  std::vector<Variable> variables;
  std::vector<std::string> registers;
  std::vector<int> final_variable;  // of each register: the variable whose value after a barrier it is, or -1
  std::vector<std::vector<Step>> threads;
  int letters = 0;
  bool locks = false;
  bool adds = false;
};

// A text that is no program ends the process: programs are written by hand, once.
Program Parse(const Litmus& litmus);
// "P0: x=1; f=1 | P1: r1=f; r2=x"
std::string TextOf(const Litmus& litmus);

// "r1=1 r2=0"
std::string OutcomeText(const Program& program, const std::vector<std::string>& values);
// What the table says; an outcome that is not in it is forbidden.
OutcomeRow Judge(const std::vector<OutcomeRow>& table, const std::vector<std::string>& values);
std::vector<std::string> Words(const std::string& text);

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_PROGRAM_H_
