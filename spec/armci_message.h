/* armci_message.h - the second name of message.h. */
#include "message.h"
