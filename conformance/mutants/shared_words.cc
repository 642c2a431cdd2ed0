#include "conformance/mutants/shared_words.h"

#include <cstring>
#include <vector>

namespace conformance::mutants {
namespace {

constexpr int kWords = 64;
std::vector<void*> words;

}  // namespace

void ProvideSharedWords(Calls* calls) {
  calls->ARMCI_Init = [] {
    const int code = PARMCI_Init();
    if (code != 0 || HaveSharedWords()) return code;
    std::vector<void*> parts(static_cast<std::size_t>(parmci_msg_nproc()));
    if (const int failed = PARMCI_Malloc(parts.data(), kWords * sizeof(long)); failed != 0) return failed;
    std::memset(parts[static_cast<std::size_t>(parmci_msg_me())], 0, kWords * sizeof(long));
    PARMCI_Barrier();
    words = parts;
    return 0;
  };
}

std::atomic_ref<long> SharedWord(int proc, int index) {
  return std::atomic_ref<long>(static_cast<long*>(words[static_cast<std::size_t>(proc)])[index]);
}

bool HaveSharedWords() { return !words.empty(); }

}  // namespace conformance::mutants
