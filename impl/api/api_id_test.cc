#include "impl/api/api_id.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace armci::runtime {
namespace {

std::string category_of(const std::string& name) {
  for (int id = 0; id < kApiCount; ++id) {
    if (kApiNames[id] == name) return api_category(static_cast<ApiId>(id));
  }
  return "no such call";
}

TEST(ApiCategoryTest, EachCallHasThatOfItsChapter) {
  const std::map<std::string, std::string> expected = {{"ARMCI_Init", "start"},
                                                       {"ARMCI_Error", "start"},
                                                       {"ARMCI_Malloc", "memory"},
                                                       {"ARMCI_Access_end", "memory"},
                                                       {"ARMCI_Put", "transfer"},
                                                       {"ARMCI_GetValueDouble", "transfer"},
                                                       {"ARMCI_INIT_HANDLE", "complete"},
                                                       {"ARMCI_Rmw", "atomic"},
                                                       {"ARMCI_Group_create", "group"},
                                                       {"armci_msg_me", "message"},
                                                       {"ARMCIX_Put", "transfer"},
                                                       {"ARMCIX_NbAccV", "transfer"},
                                                       {"ARMCIX_Rmw", "extension"},
                                                       {"ARMCIX_Group_dup", "extension"},
                                                       {"ARMCIX_Progress", "introspection"},
                                                       {"ARMCIX_Finding", "introspection"},
                                                       {"ARMCIX_Choice", "introspection"}};
  for (const auto& [name, category] : expected) EXPECT_EQ(category_of(name), category) << name;
}

TEST(ApiCategoryTest, WhatReturnsWhenOthersHaveDoneSomethingWaits) {
  for (const char* name :
       {"ARMCI_Wait", "ARMCI_AllFence", "ARMCI_GroupFence", "ARMCI_Barrier", "ARMCI_Lock", "ARMCIX_Lock_hdl",
        "armci_notify_wait", "ARMCIX_Signal_wait", "armci_msg_barrier", "armci_msg_group_barrier", "armci_msg_rcv"}) {
    EXPECT_EQ(category_of(name), "wait") << name;
  }
  EXPECT_NE(category_of("ARMCI_Test"), "wait");
  EXPECT_NE(category_of("ARMCI_Unlock"), "wait");
}

TEST(ApiCategoryTest, EachCallHasOne) {
  for (int id = 0; id < kApiCount; ++id) {
    ASSERT_NE(api_category(static_cast<ApiId>(id)), nullptr) << kApiNames[id];
    EXPECT_STRNE(api_category(static_cast<ApiId>(id)), "") << kApiNames[id];
  }
}

}  // namespace
}  // namespace armci::runtime
