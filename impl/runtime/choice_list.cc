#include "impl/runtime/choice_list.h"

namespace armci::runtime {

void ChoiceList::add(const std::string& name, const std::string& value) {
  const std::string& kept_name = texts_.emplace_back(name);
  const std::string& kept_value = texts_.emplace_back(value);
  views_.push_back({kept_name.c_str(), kept_value.c_str()});
}

Status ChoiceList::share(MPI_Comm comm) {
  // Each text with its final zero.
  std::string joined;
  for (const std::string& text : texts_) joined += text + '\0';
  unsigned long bytes = joined.size();
  ARMCI_MPI(MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG, 0, comm));
  joined.resize(bytes);
  ARMCI_MPI(MPI_Bcast(joined.data(), static_cast<int>(bytes), MPI_BYTE, 0, comm));
  clear();
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < joined.size(); at += texts.back().size() + 1) texts.emplace_back(&joined[at]);
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) add(texts[i], texts[i + 1]);
  return kSuccess;
}

void ChoiceList::clear() {
  views_.clear();
  texts_.clear();
}

}  // namespace armci::runtime
