// INIT-1, INIT-4, INIT-9, INIT-10, ERR-3, ERR-4, EXT-8: the start of the library, its settings, and MPI beside it.

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"
#include "mpi.h"

namespace conformance::mutants {
namespace {

int LevelOfMpi() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

MUTANT(init_needs_thread_multiple, "INIT-1", "init fails where MPI provides less than MPI_THREAD_MULTIPLE",
       Tests{"INIT1_init_succeeds"}) {
  calls->ARMCI_Init_args = [](int* argc, char*** argv) {
    return LevelOfMpi() < MPI_THREAD_MULTIPLE ? static_cast<int>(ARMCI_ERR_STATE) : PARMCI_Init_args(argc, argv);
  };
}

MUTANT(progress_is_dropped_below_thread_multiple, "INIT-1",
       "where MPI allows no second thread, stores move at the next barrier of all, and no fence moves them",
       Tests{"INIT1_init_succeeds"}) {
  HoldStores(calls);
  calls->ARMCI_Fence = [](int proc) {
    if (LevelOfMpi() == MPI_THREAD_MULTIPLE) RunHeld();
    PARMCI_Fence(proc);
  };
  calls->ARMCI_GetValueLong = [](void* src, int proc) {
    if (LevelOfMpi() == MPI_THREAD_MULTIPLE) RunHeld();
    return PARMCI_GetValueLong(src, proc);
  };
}

// The process that called init.
pid_t started = 0;

MUTANT(put_in_a_child_reaches_the_parent, "INIT-9", "a put by a child of fork is executed") {
  calls->ARMCI_Init = [] {
    started = getpid();
    return PARMCI_Init();
  };
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    if (getpid() == started) return PARMCI_Put(src, dst, bytes, proc);
    std::memcpy(dst, src, static_cast<std::size_t>(bytes));
    return 0;
  };
}

MUTANT(init_takes_the_programs_handler, "INIT-10", "init gives SIGALRM back to the system") {
  calls->ARMCI_Init = [] {
    const int result = PARMCI_Init();
    std::signal(SIGALRM, SIG_IGN);
    return result;
  };
}

MUTANT(messages_use_the_programs_communicator, "INIT-4", "armci_msg_snd and _rcv are MPI's on MPI_COMM_WORLD",
       Tests{"MSG1_messages_never_meet"}) {
  calls->armci_msg_snd = [](int tag, void* buffer, int len, int to) {
    MPI_Send(buffer, len, MPI_BYTE, to, tag, MPI_COMM_WORLD);
  };
  calls->armci_msg_rcv = [](int tag, void* buffer, int buflen, int*, int from) {
    MPI_Recv(buffer, buflen, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
}

MUTANT(barrier_uses_the_programs_communicator, "INIT-4", "the barrier sends its messages on MPI_COMM_WORLD", Hangs{},
       Tests{"^INIT\\.INIT4"}) {
  calls->ARMCI_Barrier = [] {
    PARMCI_AllFence();
    const int me = parmci_msg_me();
    const int ranks = parmci_msg_nproc();
    for (int step = 1; step < ranks; step *= 2) {
      int out = 77, in = 0;
      MPI_Sendrecv(&out, 1, MPI_INT, (me + step) % ranks, 77, &in, 1, MPI_INT, (me + ranks - step) % ranks, 77,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  };
}

// Runs init with stderr in a file in memory, and returns what it wrote there.
std::string OutputOf(int (*init)(), int* code) {
  const int file = memfd_create("init", MFD_CLOEXEC);
  const int saved = dup(STDERR_FILENO);
  std::fflush(stderr);
  dup2(file, STDERR_FILENO);
  *code = init();
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), ' ');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  close(file);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

MUTANT(text_of_the_system_is_lost, "ERR-3", "an init that fails tells its own number instead of the system's text") {
  calls->ARMCI_Init = [] {
    int code = 0;
    const std::string text = OutputOf(PARMCI_Init, &code);
    if (code == 0) std::fputs(text.c_str(), stderr);
    if (code != 0) std::fprintf(stderr, "ARMCI_Init: /no/such/folder: error %d\n", code);
    return code;
  };
}

MUTANT(call_that_failed_is_not_named, "ERR-3", "an init that fails prints the system's text and nothing else") {
  calls->ARMCI_Init = [] {
    int code = 0;
    std::string text = OutputOf(PARMCI_Init, &code);
    for (std::size_t at = text.find("ARMCI_Init"); code != 0 && at != std::string::npos; at = text.find("ARMCI_Init")) {
      text.erase(at, std::strlen("ARMCI_Init"));
    }
    std::fputs(text.c_str(), stderr);
    return code;
  };
}

MUTANT(unknown_settings_are_passed_over, "EXT-8", "a variable ARMCI_* that does not exist draws no warning",
       Tests{"EXT8_unknown"}) {
  calls->ARMCI_Init = [] {
    int code = 0;
    const std::string text = OutputOf(PARMCI_Init, &code);
    if (code != 0) std::fputs(text.c_str(), stderr);
    return code;
  };
}

MUTANT(file_of_settings_is_passed_over, "EXT-8", "the library reads no file of settings", Tests{"EXT8_a_file"}) {
  calls->ARMCI_Init = [] {
    unsetenv("ARMCI_TUNING_FILE");
    return PARMCI_Init();
  };
}

MUTANT(unreadable_settings_are_passed_over, "EXT-8", "a setting that is no number and should be one is ignored",
       Tests{"EXT8_unknown"}) {
  calls->ARMCI_Init = [] {
    armcix_setting_t setting{};
    for (int index = 0; PARMCIX_Setting(index, &setting) == 0; ++index) {
      const char* given = std::getenv(setting.name);
      if (given != nullptr && std::strcmp(setting.type, "text") != 0 && std::strchr(given, ' ') != nullptr) {
        unsetenv(setting.name);
      }
    }
    return PARMCI_Init();
  };
}

MUTANT(a_setting_is_listed_twice, "EXT-8", "the enumeration begins with the first setting, two times",
       Tests{"EXT8_settings"}) {
  calls->ARMCIX_Setting = [](int index, armcix_setting_t* out) {
    return PARMCIX_Setting(index > 0 ? index - 1 : index, out);
  };
}

MUTANT(a_setting_is_hidden, "EXT-8", "ARMCI_CHECK is read and not listed", Tests{"EXT8_settings"}) {
  calls->ARMCIX_Setting = [](int index, armcix_setting_t* out) {
    for (int skipped = 0, at = 0;; ++at) {
      const int code = PARMCIX_Setting(index < 0 ? index : at, out);
      if (code != 0) return code;
      skipped += std::strcmp(out->name, "ARMCI_CHECK") == 0;
      if (at - skipped == index && std::strcmp(out->name, "ARMCI_CHECK") != 0) return 0;
    }
  };
}

MUTANT(settings_show_their_defaults_only, "EXT-8", "the present value of a setting is given as its default") {
  calls->ARMCIX_Setting = [](int index, armcix_setting_t* out) {
    const int code = PARMCIX_Setting(index, out);
    if (code == 0) out->value = out->default_value;
    return code;
  };
}

MUTANT(costly_checks_are_never_on, "ERR-4", "ARMCI_CHECK is read and has no effect", Tests{"ERR4_costly"}) {
  calls->ARMCI_Init = [] {
    unsetenv("ARMCI_CHECK");
    return PARMCI_Init();
  };
}

MUTANT(data_races_are_never_looked_for, "ERR-5", "ARMCI_CHECK=race is read and has no effect",
       Tests{"ERR5_data_races"}) {
  calls->ARMCI_Init = [] {
    unsetenv("ARMCI_CHECK");
    return PARMCI_Init();
  };
}

MUTANT(segments_are_not_checked, "ERR-4", "with ARMCI_CHECK=1 a vector put leaves out the segments that are outside",
       Tests{"ERR4_costly"}) {
  calls->ARMCI_PutV = [](armci_giov_t* iov, int len, int proc) {
    const int code = PARMCI_PutV(iov, len, proc);
    return code == ARMCI_ERR_ADDRESS ? 0 : code;
  };
}

MUTANT(changed_sources_go_unnoticed, "ERR-4", "with ARMCI_CHECK=1 a source may change between a put and its wait",
       Tests{"ERR4_costly"}) {
  calls->ARMCI_NbPut = [](void* src, void* dst, int bytes, int proc, armci_hdl_t*) {
    return PARMCI_Put(src, dst, bytes, proc);
  };
}

MUTANT(cheap_checks_need_armci_check, "ERR-4", "without ARMCI_CHECK=1 a get from a bad process does nothing",
       Tests{"ERR1_bad_scalars"}) {
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    const bool checking = std::getenv("ARMCI_CHECK") != nullptr;
    return !checking && (proc < 0 || proc >= parmci_msg_nproc()) ? 0 : PARMCI_Get(src, dst, bytes, proc);
  };
}

}  // namespace
}  // namespace conformance::mutants
