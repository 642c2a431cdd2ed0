# Builds the examples against an installed library with pkg-config, which finds MPI as well.
#
#   make -f pkg-config.mk PKG_CONFIG_PATH=/opt/armci/lib/pkgconfig                    with the default implementation
#   make -f pkg-config.mk PKG_CONFIG_PATH=/opt/armci/lib/pkgconfig IMPL=mpi-rma       with another one
export PKG_CONFIG_PATH

IMPL ?=
CFLAGS ?= -O2
CXXFLAGS ?= -O2

PACKAGE = armci$(if $(IMPL),-$(IMPL))
PROGRAMS = hello nxtval transpose spmv

all: $(PROGRAMS)

hello nxtval transpose: %: %.c
	$(CC) $(CFLAGS) -o $@ $< $(LDFLAGS) $(shell pkg-config --cflags --libs $(PACKAGE))

spmv: spmv.cc matrix_reader.cc matrix_reader.h
	$(CXX) -std=c++20 $(CXXFLAGS) -o $@ spmv.cc matrix_reader.cc $(LDFLAGS) $(shell pkg-config --cflags --libs $(PACKAGE))

clean:
	rm -f $(PROGRAMS)

.PHONY: all clean
