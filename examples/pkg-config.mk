# Builds the examples against an installed library with pkg-config, which finds MPI as well.
#
#   make -f pkg-config.mk PKG_CONFIG_PATH=/opt/armci/lib/pkgconfig                    with the default implementation
#   make -f pkg-config.mk PKG_CONFIG_PATH=/opt/armci/lib/pkgconfig IMPL=mpi-rma       with another one

IMPL ?=
CFLAGS ?= -O2
CXXFLAGS ?= -O2

PACKAGE = armci$(if $(IMPL),-$(IMPL))
# Variables of make do not reach $(shell) by themselves.
FLAGS = $(shell PKG_CONFIG_PATH="$(PKG_CONFIG_PATH)" pkg-config --cflags --libs $(PACKAGE))
# The C++ interface of MPI, which was removed from it, is not used.
WITHOUT_MPICXX = -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX
PROGRAMS = hello nxtval transpose spmv

all: $(PROGRAMS)

hello nxtval transpose: %: %.c
	$(CC) $(CFLAGS) -o $@ $< $(LDFLAGS) $(FLAGS)

spmv: spmv.cc matrix_reader.cc matrix_reader.h
	$(CXX) -std=c++20 $(WITHOUT_MPICXX) $(CXXFLAGS) -o $@ spmv.cc matrix_reader.cc $(LDFLAGS) $(FLAGS)

clean:
	rm -f $(PROGRAMS)

.PHONY: all clean
