// The accesses that programs combine.
#include "conformance/race/pairs.h"

namespace armci_race {
namespace {

constexpr int kBytes = 8;

void put(Job& job, int owner, int offset) { ARMCI_Put(job.buffer, job.at(owner, offset), kBytes, owner); }
void put_strided(Job& job, int owner, int offset) {
  int stride[] = {16};
  int count[] = {4, 2};
  ARMCI_PutS(job.buffer, stride, job.at(owner, offset), stride, count, 1, owner);
}
void put_vector(Job& job, int owner, int offset) {
  void* from[] = {job.buffer, job.buffer + 64};
  void* to[] = {job.at(owner, offset + 64), job.at(owner, offset)};
  armci_giov_t iov = {from, to, kBytes, 2};
  ARMCI_PutV(&iov, 1, owner);
}
void put_value(Job& job, int owner, int offset) { ARMCI_PutValueLong(1, job.at(owner, offset), owner); }
void nb_put(Job& job, int owner, int offset) {
  ARMCI_NbPut(job.buffer, job.at(owner, offset), kBytes, owner, &job.handle);
  ARMCI_Wait(&job.handle);
}
void acc(Job& job, int owner, int offset) {
  double one = 1;
  ARMCI_Acc(ARMCI_ACC_DBL, &one, job.buffer, job.at(owner, offset), kBytes, owner);
}
void acc_strided(Job& job, int owner, int offset) {
  double one = 1;
  int stride[] = {16};
  int count[] = {kBytes, 2};
  ARMCI_AccS(ARMCI_ACC_DBL, &one, job.buffer, stride, job.at(owner, offset), stride, count, 1, owner);
}
void get(Job& job, int owner, int offset) { ARMCI_Get(job.at(owner, offset), job.buffer, kBytes, owner); }
void get_strided(Job& job, int owner, int offset) {
  int stride[] = {16};
  int count[] = {kBytes, 2};
  ARMCI_GetS(job.at(owner, offset), stride, job.buffer, stride, count, 1, owner);
}
void get_vector(Job& job, int owner, int offset) {
  void* from[] = {job.at(owner, offset + 128), job.at(owner, offset)};
  void* to[] = {job.buffer, job.buffer + 64};
  armci_giov_t iov = {from, to, kBytes, 2};
  ARMCI_GetV(&iov, 1, owner);
}
void get_value(Job& job, int owner, int offset) { ARMCI_GetValueLong(job.at(owner, offset), owner); }
void nb_get(Job& job, int owner, int offset) {
  ARMCI_NbGet(job.at(owner, offset), job.buffer, kBytes, owner, &job.handle);
  ARMCI_Wait(&job.handle);
}
void rmw(Job& job, int owner, int offset) {
  long before = 0;
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, job.at(owner, offset), 1, owner);
}

}  // namespace

const Access kPut{"put", put};
const Access kPutStrided{"strided put", put_strided};
const Access kPutVector{"vector put", put_vector};
const Access kPutValue{"value put", put_value};
const Access kNbPut{"non-blocking put", nb_put};
const Access kAcc{"accumulate", acc};
const Access kAccStrided{"strided accumulate", acc_strided};
const Access kGet{"get", get};
const Access kGetStrided{"strided get", get_strided};
const Access kGetVector{"vector get", get_vector};
const Access kGetValue{"value get", get_value};
const Access kNbGet{"non-blocking get", nb_get};
const Access kRmw{"fetch-and-add", rmw};

}  // namespace armci_race
