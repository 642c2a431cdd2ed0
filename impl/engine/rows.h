// Rows: the segments of a strided or a vector transfer, as pairs of a local and a remote address.
//
// Thread safety: plain values that point to the caller's descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "impl/engine/compose.h"
#include "impl/engine/request.h"
#include "impl/node/copy.h"
#include "impl/runtime/shapes.h"

namespace armci::engine {

// The side of the descriptor that is local.
enum class Here : bool { kSource, kDestination };

class Rows {
 public:
  Rows(const runtime::Strided& shape, Here here, const void* local, const void* remote)
      : shape_(&shape),
        here_(here),
        local_(static_cast<const char*>(local)),
        remote_(static_cast<const char*>(remote)),
        bytes_(shape.count[0]),
        count_(shape.segments()),
        levels_(wire_levels(shape, here == Here::kSource ? shape.dst_stride : shape.src_stride)) {}
  Rows(const runtime::Segments& list, Here here) : list_(&list), here_(here), bytes_(list.bytes), count_(list.count) {}

  std::size_t bytes() const { return bytes_; }  // of each
  std::size_t count() const { return count_; }

  // Whether they follow each other without gaps.
  bool local_is_dense() const { return is_dense(here_ == Here::kSource); }
  bool remote_is_dense() const { return is_dense(here_ != Here::kSource); }

  // Calls visit(local, remote) for `count` rows from number `first` on. The caller decides whether it writes to
  // `local`.
  template <class Visit>
  void visit(std::size_t first, std::size_t count, Visit visit) const {
    const auto call = [&](const char* source, const char* destination) {
      const bool from_here = here_ == Here::kSource;
      visit(const_cast<char*>(from_here ? source : destination), const_cast<char*>(from_here ? destination : source));
    };
    if (list_ != nullptr) {
      for (std::size_t i = first; i < first + count; ++i) {
        call(static_cast<const char*>(list_->src[i]), static_cast<const char*>(list_->dst[i]));
      }
      return;
    }
    const char* const source = here_ == Here::kSource ? local_ : remote_;
    const char* const destination = here_ == Here::kSource ? remote_ : local_;
    for_segment_range(*shape_, first, count,
                      [&](std::ptrdiff_t from, std::ptrdiff_t to) { call(source + from, destination + to); });
  }

  // The remote addresses of rows as a message holds them. iov_bytes() is their length; fitting() is the number of
  // rows whose addresses, with `each` bytes more for every row, fit into `bytes_max`.
  std::size_t iov_bytes(std::size_t rows) const {
    return list_ != nullptr ? rows * sizeof(std::uint64_t) : levels_.size() * sizeof(WireLevel);
  }
  std::size_t fitting(std::size_t bytes_max, std::size_t each) const {
    if (list_ != nullptr) return bytes_max / (sizeof(std::uint64_t) + each);
    const std::size_t fixed = iov_bytes(0);
    return bytes_max < fixed ? 0 : each == 0 ? count_ : (bytes_max - fixed) / each;
  }
  // Fills in the form and the lengths of some of the rows.
  void fill_in(std::size_t first, std::size_t count, RequestHeader* header) const {
    header->bytes = bytes_;
    header->count = count;
    header->form = list_ != nullptr ? Form::kList : Form::kStrided;
    if (list_ != nullptr) return;
    header->levels = static_cast<std::uint8_t>(shape_->levels);
    header->address = reinterpret_cast<std::uintptr_t>(remote_);
    header->first = first;
  }
  // Writes the segments of those rows, and returns their end.
  char* write_iov(std::size_t first, std::size_t count, char* at) const {
    if (list_ == nullptr) {
      std::memcpy(at, levels_.data(), levels_.size() * sizeof(WireLevel));
      return at + iov_bytes(count);
    }
    visit(first, count, [&](const char*, const char* remote) {
      const auto address = reinterpret_cast<std::uint64_t>(remote);
      std::memcpy(at, &address, sizeof address);
      at += sizeof address;
    });
    return at;
  }
  // The two together, in a message. Returns the end.
  char* describe(std::size_t first, std::size_t count, RequestHeader header, char* message) const {
    fill_in(first, count, &header);
    return write_iov(first, count, compose(header, {}, message));
  }

  // Copies the local rows to `to`, without gaps.
  void pack(std::size_t first, std::size_t count, char* to) const {
    if (list_ == nullptr) {
      const bool here = here_ == Here::kSource;
      return for_run_range(*shape_, first, count, [&](std::ptrdiff_t src, std::ptrdiff_t dst, std::size_t rows) {
        const std::ptrdiff_t stride = here ? shape_->src_stride[0] : shape_->dst_stride[0];
        node::copy_rows(to, static_cast<std::ptrdiff_t>(bytes_), local_ + (here ? src : dst), stride, rows, bytes_);
        to += rows * bytes_;
      });
    }
    visit(first, count, [&](const char* local, const char*) {
      node::copy(to, local, bytes_);
      to += bytes_;
    });
  }
  // The inverse of pack(), to be called later: the descriptor may be gone by then.
  std::function<void(const char* from)> unpacker(std::size_t first, std::size_t count) const {
    if (char* const run = local_run(first, count); run != nullptr) {
      return [run, bytes = count * bytes_](const char* from) { node::copy(run, from, bytes); };
    }
    if (list_ == nullptr) {
      return [shape = *shape_, local = const_cast<char*>(local_), first, count](const char* from) {
        const std::size_t bytes = shape.count[0];
        for_run_range(shape, first, count, [&](std::ptrdiff_t, std::ptrdiff_t place, std::size_t rows) {
          node::copy_rows(local + place, shape.dst_stride[0], from, static_cast<std::ptrdiff_t>(bytes), rows, bytes);
          from += rows * bytes;
        });
      };
    }
    std::vector<char*> iov;
    iov.reserve(count);
    visit(first, count, [&](char* local, const char*) { iov.push_back(local); });
    return [iov = std::move(iov), bytes = bytes_](const char* from) {
      for (char* const place : iov) {
        node::copy(place, from, bytes);
        from += bytes;
      }
    };
  }
  // The address of some of the local rows if there are no gaps between them; else null.
  char* local_run(std::size_t first, std::size_t count) const {
    const bool here = here_ == Here::kSource;
    if (list_ == nullptr) return local_is_dense() ? const_cast<char*>(local_) + first * bytes_ : nullptr;
    void* const* const iov = (here ? list_->src : list_->dst) + first;
    return runtime::is_dense(iov, count, bytes_) ? static_cast<char*>(iov[0]) : nullptr;
  }

 private:
  bool is_dense(bool source) const {
    if (list_ != nullptr) return runtime::is_dense(source ? list_->src : list_->dst, count_, bytes_);
    return runtime::is_dense(*shape_, source ? shape_->src_stride : shape_->dst_stride);
  }

  const runtime::Strided* shape_ = nullptr;
  const runtime::Segments* list_ = nullptr;
  Here here_;
  const char* local_ = nullptr;
  const char* remote_ = nullptr;
  std::size_t bytes_;
  std::size_t count_;
  std::vector<WireLevel> levels_;
};

}  // namespace armci::engine
