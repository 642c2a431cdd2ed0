// GROUP, DOM, MSG: ranks, ids and domains mistaken for one another.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "conformance/mutants/mutants.h"

namespace conformance::mutants {
namespace {

MUTANT(group_rank_is_taken_as_id, "GROUP-1", "the absolute id of a group's member is its group rank", Ranks{3}) {
  calls->ARMCI_Absolute_id = [](ARMCI_Group*, int group_rank) { return group_rank; };
}

MUTANT(group_members_are_sorted, "GROUP-2", "group ranks follow the absolute ids instead of the list", Ranks{3}) {
  calls->ARMCI_Group_create = [](int n, int* pids, ARMCI_Group* out) {
    std::vector<int> sorted(pids, pids + std::max(n, 0));
    std::sort(sorted.begin(), sorted.end());
    PARMCI_Group_create(n, sorted.data(), out);
  };
}

MUTANT(group_creation_waits_for_everyone, "GROUP-1", "a group is created when all processes have called", Hangs{},
       Ranks{3}) {
  calls->ARMCI_Group_create = [](int n, int* pids, ARMCI_Group* out) {
    parmci_msg_barrier();
    PARMCI_Group_create(n, pids, out);
  };
}

MUTANT(default_group_is_always_the_world, "GROUP-1", "setting the default group changes nothing", Ranks{3}) {
  calls->ARMCI_Group_set_default = [](ARMCI_Group*) {};
}

MUTANT(split_ignores_the_key, "GROUP-3", "members of a colour are ordered by rank only", Ranks{3}) {
  calls->ARMCIX_Group_split = [](ARMCI_Group* parent, int color, int, ARMCI_Group* out) {
    return PARMCIX_Group_split(parent, color, 0, out);
  };
}

MUTANT(domains_are_of_one_process, "DOM-1", "a domain says that it has one process, against the other queries") {
  calls->armci_domain_nprocs = [](armci_domain_t, int) { return 1; };
}

MUTANT(domain_ids_differ_by_process, "DOM-1", "the last process counts its domain differently") {
  calls->armci_domain_my_id = [](armci_domain_t domain) {
    return parmci_domain_my_id(domain) + (parmci_msg_me() == parmci_msg_nproc() - 1 ? 1 : 0);
  };
}

MUTANT(domain_members_are_reversed, "DOM-1", "one process counts the members of a domain backwards") {
  calls->armci_domain_glob_proc_id = [](armci_domain_t domain, int id, int local) {
    const int members = parmci_domain_nprocs(domain, id);
    return parmci_domain_glob_proc_id(domain, id, parmci_msg_me() == 0 ? members - 1 - local : local);
  };
}

MUTANT(maximum_is_of_absolute_values, "MSG-1", "the global maximum of ints ignores the sign") {
  calls->armci_msg_igop = [](int* x, int n, const char* op) {
    parmci_msg_igop(x, n, std::string(op) == "max" ? "absmax" : op);
  };
}

MUTANT(broadcast_has_a_fixed_root, "MSG-1", "a broadcast comes from process 0 for every root") {
  calls->armci_msg_bcast = [](void* buf, int len, int) { parmci_msg_bcast(buf, len, 0); };
  calls->armci_msg_brdcst = [](void* buf, int len, int) { parmci_msg_brdcst(buf, len, 0); };
}

MUTANT(operators_are_whole_texts, "MSG-2", "a text that goes on behind the name of its operator is taken for a sum") {
  calls->armci_msg_igop = [](int* x, int n, const char* op) {
    constexpr const char* kNames[] = {"+", "*", "max", "min", "absmax", "absmin", "or"};
    const bool is_name = std::any_of(std::begin(kNames), std::end(kNames),
                                     [op](const char* name) { return std::strcmp(op, name) == 0; });
    parmci_msg_igop(x, n, is_name ? op : "+");
  };
}

MUTANT(message_barrier_does_not_wait, "MSG-1", "the barrier of messages returns at once") {
  calls->armci_msg_barrier = [] {};
}

MUTANT(long_sums_stop_at_an_element, "MSG-1", "a global sum of doubles handles the first 1000 elements") {
  calls->armci_msg_dgop = [](double* x, int n, const char* op) { parmci_msg_dgop(x, std::min(n, 1000), op); };
}

}  // namespace
}  // namespace conformance::mutants
