// A small seeded generator: the same seed gives the same numbers on every machine.
//
// Not thread-safe: one generator per thread.
#ifndef CONFORMANCE_HARNESS_RANDOM_H_
#define CONFORMANCE_HARNESS_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace conformance {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [0, n), n > 0. The modulo bias is far below what any test could notice.
  std::uint64_t Below(std::uint64_t n) { return Next() % n; }
  // In [low, high].
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool Chance(unsigned in, unsigned out_of) { return Below(out_of) < in; }

  void Fill(void* to, std::size_t bytes) {
    char* at = static_cast<char*>(to);
    for (; bytes >= 8; bytes -= 8, at += 8) {
      const std::uint64_t word = Next();
      std::memcpy(at, &word, 8);
    }
    const std::uint64_t word = Next();
    std::memcpy(at, &word, bytes);
  }

  template <typename T>
  void Shuffle(std::vector<T>* items) {
    for (std::size_t i = items->size(); i > 1; --i) std::swap((*items)[i - 1], (*items)[Below(i)]);
  }

 private:
  std::uint64_t state_;
};

// FNV-1a: mixes a test's name into its seed.
inline std::uint64_t HashName(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_RANDOM_H_
