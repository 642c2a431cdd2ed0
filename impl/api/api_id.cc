#include "impl/api/api_id.h"

namespace armci::runtime {

#define ARMCI_API_NAME(result, strong, weak_name, parameters, arguments) #weak_name,
const char* const kApiNames[kApiCount] = {ARMCI_API_ALL(ARMCI_API_NAME)};
#undef ARMCI_API_NAME

namespace {

bool waits(ApiId id) {
  switch (id) {
    case ApiId::ARMCI_Wait:
    case ApiId::ARMCI_WaitProc:
    case ApiId::ARMCI_WaitAll:
    case ApiId::ARMCI_Fence:
    case ApiId::ARMCI_AllFence:
    case ApiId::ARMCI_GroupFence:
    case ApiId::ARMCI_Barrier:
    case ApiId::ARMCI_Lock:
    case ApiId::ARMCIX_Lock_hdl:
    case ApiId::armci_notify_wait:
    case ApiId::ARMCIX_Signal_wait:
    case ApiId::ARMCIX_Signal_wait_all:
    case ApiId::ARMCIX_Signal_wait_any:
    case ApiId::ARMCIX_Signal_wait_some:
    case ApiId::armci_msg_barrier:
    case ApiId::armci_msg_group_barrier:
    case ApiId::armci_msg_rcv:
    case ApiId::armci_msg_rcvany:
      return true;
    default:
      return false;
  }
}

constexpr const char* kChapters[kApiCount] = {
#define ARMCI_API_CHAPTER_START(...) "start",
#define ARMCI_API_CHAPTER_MEMORY(...) "memory",
#define ARMCI_API_CHAPTER_TRANSFER(...) "transfer",
#define ARMCI_API_CHAPTER_COMPLETE(...) "complete",
#define ARMCI_API_CHAPTER_ATOMIC(...) "atomic",
#define ARMCI_API_CHAPTER_GROUP(...) "group",
#define ARMCI_API_CHAPTER_MESSAGE(...) "message",
#define ARMCI_API_CHAPTER_EXTENSION(...) "extension",
#define ARMCI_API_CHAPTER_INTROSPECTION(...) "introspection",
    // In the order of ARMCI_API_ALL.
    ARMCI_API_START(ARMCI_API_CHAPTER_START)          //
    ARMCI_API_MEMORY(ARMCI_API_CHAPTER_MEMORY)        //
    ARMCI_API_TRANSFER(ARMCI_API_CHAPTER_TRANSFER)    //
    ARMCI_API_COMPLETE(ARMCI_API_CHAPTER_COMPLETE)    //
    ARMCI_API_ATOMIC(ARMCI_API_CHAPTER_ATOMIC)        //
    ARMCI_API_GROUP(ARMCI_API_CHAPTER_GROUP)          //
    ARMCI_API_MESSAGE(ARMCI_API_CHAPTER_MESSAGE)      //
    ARMCI_API_TRANSFER64(ARMCI_API_CHAPTER_TRANSFER)  //
    ARMCI_API_EXTENSION(ARMCI_API_CHAPTER_EXTENSION)  //
    ARMCI_API_INTROSPECTION(ARMCI_API_CHAPTER_INTROSPECTION)};

}  // namespace

const char* api_category(ApiId id) { return waits(id) ? "wait" : kChapters[static_cast<int>(id)]; }

}  // namespace armci::runtime
