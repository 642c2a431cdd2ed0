// Whether the segments of one noncontiguous transfer share bytes.
//
// MPI forbids one operation to write a byte twice, ARMCI does not. A vector transfer may become one operation with a
// datatype only if no two of its segments share a byte. Dinan, Balaji, Hammond, Krishnamoorthy, Tipparaju ("Supporting
// the Global Arrays PGAS Model Using MPI One-Sided Communication", IPDPS 2012) insert the segments into a conflict
// tree. The segments of a transfer have one size, and all of them are known: sorting their addresses gives the same
// answer.
//
// Thread safety: any thread at any time.
#pragma once

#include <cstddef>

namespace armci::rma {

// True if two of the segments [bases[i], bases[i] + bytes) share a byte. Segments of no bytes share none. A segment
// whose end lies behind the end of the address space continues at address 0, as pointers do.
//
// O(count) and without memory of its own when the addresses rise or fall all along; O(count log count) otherwise, and
// the function allocates memory for more than 128 segments.
bool segments_overlap(void* const* bases, std::size_t count, std::size_t bytes);

}  // namespace armci::rma
