// Words that all processes share, for mutants that need an agreement of their own behind the library's back.
#ifndef CONFORMANCE_MUTANTS_SHARED_WORDS_H_
#define CONFORMANCE_MUTANTS_SHARED_WORDS_H_

#include <atomic>

#include "conformance/mutants/calls.h"

namespace conformance::mutants {

// Has them allocated by ARMCI_Init.
void ProvideSharedWords(Calls* calls);
// The word `index` (0 to 63) of a process; 0 at first. Only after init.
std::atomic_ref<long> SharedWord(int proc, int index);
bool HaveSharedWords();

}  // namespace conformance::mutants

#endif  // CONFORMANCE_MUTANTS_SHARED_WORDS_H_
