#include "conformance/litmus/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace conformance::litmus {
namespace {

[[noreturn]] void Refuse(const std::string& text) {
  std::fprintf(stderr, "conformance: not a litmus program: %s\n", text.c_str());
  std::abort();
}

// The place of `name` among `names`, or -1.
template <typename T, typename NameOfItem>
int Find(const std::vector<T>& names, const std::string& name, NameOfItem name_of) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const T& item) { return name_of(item) == name; });
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

int VariableOf(const Program& program, const std::string& name) {
  return Find(program.variables, name, [](const Variable& variable) { return variable.name; });
}

int RegisterOf(const Program& program, const std::string& name) {
  return Find(program.registers, name, [](const std::string& reg) { return reg; });
}

// left=right, of a step that blocks
Step ParseAssignment(const Program& program, const std::string& left, const std::string& right) {
  const std::size_t comma = left.find(',');
  const bool adds = left.back() == '+';
  const int to = VariableOf(program, adds ? left.substr(0, left.size() - 1) : left.substr(0, comma));
  if (to >= 0) {
    if (comma != std::string::npos) {
      const int flag = VariableOf(program, left.substr(comma + 1));
      if (flag < 0 || right != "1") Refuse(left + "=" + right);
      return {Act::kStoreFlag, to, -1, 1, flag};
    }
    if (adds) return {Act::kAccumulate, to, -1, std::atol(right.c_str())};
    const int from = RegisterOf(program, right);
    if (from >= 0) return {Act::kForward, to, from};
    return {Act::kStore, to, -1, std::atol(right.c_str())};
  }
  const int reg = RegisterOf(program, left);
  if (reg < 0 && left != "_") Refuse(left + "=" + right);
  const std::size_t sign = right.find_first_of("+?");
  const int from = VariableOf(program, right.substr(0, sign));
  if (from < 0) Refuse(left + "=" + right);
  if (sign == std::string::npos) return {Act::kRead, from, reg};
  return {right[sign] == '+' ? Act::kFetchAdd : Act::kSwapZero, from, reg, std::atol(right.c_str() + sign + 1)};
}

constexpr std::pair<const char*, Act> kWords[] = {
    {"wait", Act::kWait},     {"allfence", Act::kAllFence}, {"lock", Act::kLock},
    {"unlock", Act::kUnlock}, {"barrier", Act::kBarrier},   {"notify", Act::kNotify},
    {"await", Act::kAwait},   {"send", Act::kSend},         {"recv", Act::kReceive}};

Step ParseStep(const Program& program, const std::string& text) {
  const std::vector<std::string> words = Words(text);
  if (words.empty()) Refuse(text);
  if (words.size() == 2 && words[0] == "fence") return {Act::kFence, VariableOf(program, words[1])};
  for (const auto& [word, act] : kWords) {
    if (words[0] != word) continue;
    Step step{act};
    if (words.size() == 2) step.thread = std::atoi(words[1].c_str());
    return step;
  }
  const bool nonblocking = words[0].front() == '~';
  const std::string assignment = words[0].substr(nonblocking ? 1 : 0);
  const std::size_t equals = assignment.find('=');
  if (words.size() > 1 || equals == std::string::npos || equals == 0) Refuse(text);
  Step step = ParseAssignment(program, assignment.substr(0, equals), assignment.substr(equals + 1));
  step.nonblocking = nonblocking;
  return step;
}

// The needs of the whole program for this step.
void NoteStep(const Step& step, Program* program) {
  program->locks |= step.act == Act::kLock;
  program->barriers |= step.act == Act::kBarrier;
  program->plain_numbers |= step.act == Act::kFetchAdd || step.act == Act::kSwapZero;
  if (step.flag >= 0) program->variables[static_cast<std::size_t>(step.flag)].is_flag = true;
}

}  // namespace

const char* NameOf(Grade grade) {
  static constexpr const char* kNames[] = {"acceptable", "interesting", "forbidden"};
  return kNames[static_cast<int>(grade)];
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Program Parse(const Litmus& litmus) {
  Program program;
  for (const std::string& place : Words(litmus.places)) {
    const std::size_t at = place.find('@');
    const bool by_thread = place.size() == at + 3;
    if (by_thread != program.letters_are_threads && !program.variables.empty()) Refuse(litmus.places);
    program.letters_are_threads = by_thread;
    const int letter = place.back() - (by_thread ? '0' : 'A');
    program.variables.push_back({place.substr(0, at), letter});
    program.letters = std::max(program.letters, letter + 1);
  }
  program.registers = Words(litmus.registers);
  for (const std::string& name : program.registers) program.final_variable.push_back(VariableOf(program, name));
  for (const std::string& text : litmus.threads) {
    std::istringstream in(text);
    std::vector<Step>& steps = program.threads.emplace_back();
    for (std::string step; std::getline(in, step, ';');) {
      steps.push_back(ParseStep(program, step));
      NoteStep(steps.back(), &program);
    }
  }
  for (const auto* table : {&litmus.blocking, &litmus.nonblocking}) {
    for (const OutcomeRow& row : *table) {
      if (Words(row.values).size() != program.registers.size()) Refuse("outcome " + row.values);
    }
  }
  return program;
}

std::string TextOf(const Litmus& litmus) {
  std::string text;
  for (std::size_t thread = 0; thread < litmus.threads.size(); ++thread) {
    text += (thread > 0 ? " | P" : "P") + std::to_string(thread) + ": " + litmus.threads[thread];
  }
  return text + ", with " + litmus.places;
}

std::string OutcomeText(const Program& program, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? " " : "") + program.registers[i] + "=" + values[i];
  return text;
}

OutcomeRow Judge(const std::vector<OutcomeRow>& table, const std::vector<std::string>& values) {
  for (const OutcomeRow& row : table) {
    if (Words(row.values) == values) return row;
  }
  return {"", Grade::kForbidden};
}

}  // namespace conformance::litmus
