#include "conformance/litmus/shapes.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace conformance::litmus {
namespace {

std::vector<std::string> SplitAt(const std::string& text, const std::string& mark) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = text.find(mark); to != std::string::npos; to = text.find(mark, from)) {
    parts.push_back(text.substr(from, to - from));
    from = to + mark.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

bool ReadsItsOwnStore(const std::string& thread) {
  for (const char variable : std::string("xyzu")) {
    const std::string name(1, variable);
    const std::size_t stored = std::min(thread.find(name + "="), thread.find(name + "+="));
    const std::size_t read = thread.rfind("=" + name);
    if (stored != std::string::npos && read != std::string::npos && stored < read) return true;
  }
  return false;
}

Litmus ParseShape(const std::string& line) {
  std::vector<std::string> fields = SplitAt(line, " | ");
  Litmus shape;
  shape.name = "a generated program";
  shape.places = fields.front();
  shape.threads.assign(fields.begin() + 1, fields.end() - 2);
  shape.registers = fields.end()[-2];
  // ORD-4 speaks of gets: no process loads what it has stored.
  shape.loads = std::none_of(shape.threads.begin(), shape.threads.end(), ReadsItsOwnStore);
  for (std::string& values : SplitAt(fields.back(), ", ")) {
    const bool is_interesting = values.ends_with(" i");
    if (is_interesting) values.resize(values.size() - 2);
    shape.blocking.push_back({values, is_interesting ? Grade::kInteresting : Grade::kAcceptable});
  }
  return shape;
}

}  // namespace

const std::vector<Litmus>& Shapes() {
  static const std::vector<Litmus> shapes = [] {
    std::vector<Litmus> all;
    std::istringstream in(ShapeTexts());
    for (std::string line; std::getline(in, line);) all.push_back(ParseShape(line));
    return all;
  }();
  return shapes;
}

}  // namespace conformance::litmus
