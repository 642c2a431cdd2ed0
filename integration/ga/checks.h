/* Shared by the programs of this folder: the start and the end of a program of Global Arrays, checks that are
 * counted over all processes, and numbers that every process draws alike. */
#ifndef ARMCI_INTEGRATION_GA_CHECKS_H_
#define ARMCI_INTEGRATION_GA_CHECKS_H_

#include "ga.h"
#include "macdecls.h"

/* Starts MPI and Global Arrays. Collective. */
void begin(int* argc, char*** argv);

/* Counts failures, and prints the first few with file and line. Not collective. */
void check_at(int ok, const char* file, int line, const char* what);
#define CHECK(condition) check_at((condition), __FILE__, __LINE__, #condition)

/* Prints "NAME: PASS, N checks on P processes" or what failed; ends Global Arrays and MPI. Returns the exit status, the
 * same on all processes. Collective. */
int end(const char* name);

/* From 0 to below `bound`; the same sequence for the same `state`. */
int draw(unsigned* state, int bound);

/* lo[i] <= hi[i], both within an array of `dims`. */
void draw_patch(unsigned* state, int dimensions, const int* dims, int* lo, int* hi);

#endif
