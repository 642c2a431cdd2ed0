#error "the headers of ComEx are used, and those of ARMCI were asked for"
