// ThreadBlock<Block>: a block of memory for each thread that needs one, made at first use and freed when the thread
// ends. A thread has one block of a type, whichever function gets it.
//
// Large thread_local objects would be static TLS, of which dlopen has about 1.6 KiB for all libraries of a process.
// Here TLS holds a pointer [ABI-1].
//
// Thread safety: a block belongs to its thread.
#pragma once

#include <new>

namespace armci {

template <class Block>
class ThreadBlock {
 public:
  // nullptr: the thread has no memory left, or ends.
  static Block* get() {
    if (block_ != nullptr) [[likely]]
      return block_;
    return make();
  }

 private:
  struct AtEnd {
    ~AtEnd() {
      delete block_;
      block_ = nullptr;
      ended_ = true;
    }
  };

  [[gnu::noinline]] static Block* make() {
    // A destructor of the program may call the library later, when nothing would free the block.
    if (ended_) return nullptr;
    static thread_local AtEnd at_end;
    (void)at_end;
    block_ = new (std::nothrow) Block;
    return block_;
  }

  static inline thread_local constinit Block* block_ = nullptr;
  static inline thread_local constinit bool ended_ = false;
};

}  // namespace armci
