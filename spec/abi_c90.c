/* abi_c90.c - compiled as pedantic C90: the public headers must be usable there. */
#include "spec/abi_c90.h"

#include "armci.h"
#include "armci_message.h"
#include "armcix.h"
#include "message.h"
#include "parmci.h"

AbiSizes abi_sizes_in_c(void) {
  AbiSizes sizes;
  sizes.handle = sizeof(armci_hdl_t);
  sizes.group = sizeof(ARMCI_Group);
  sizes.giov = sizeof(armci_giov_t);
  sizes.meminfo = sizeof(armci_meminfo_t);
  sizes.domain = sizeof(armci_domain_t);
  sizes.giovx = sizeof(armcix_giov_t);
  sizes.op = sizeof(armcix_op_t);
  sizes.stats = sizeof(armcix_stats_t);
  sizes.call_stats = sizeof(armcix_call_stats_t);
  sizes.setting = sizeof(armcix_setting_t);
  sizes.finding = sizeof(armcix_finding_t);
  sizes.choice = sizeof(armcix_choice_t);
  sizes.abi_version = armci_abi_reference;
  return sizes;
}
