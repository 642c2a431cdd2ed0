// ERR-1: bad arguments of calls that return a code. Each row of the table is one mistake. The call must return
// non-zero, print one line that names call, argument, value and clause, write nothing, and leave the library usable.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "conformance/harness/capture.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kBytes = 4096;

// Arguments of the calls. `remote` lies in the middle of a region of `target`; behind the region's end nothing is.
struct Ground {
  char* remote;
  char* remote_end;
  char* local;
  int target;
};

struct BadCall {
  std::string call;
  std::string argument;  // as the prototype names it, empty: any
  std::string value;     // as printed, empty: any
  std::function<int(const Ground&)> run;
};

int stride[] = {64};
double scale = 1;

std::string Number(long value) { return std::to_string(value); }

// Rows about proc, for one call each.
void AddProcRows(std::vector<BadCall>* rows) {
  for (int bad : {-1, Np(), 1 << 30}) {
    const std::string text = Number(bad);
    const auto add = [&](const char* call, std::function<int(const Ground&)> run) {
      rows->push_back({call, "proc", text, std::move(run)});
    };
    add("ARMCI_Put", [=](const Ground& g) { return ARMCI_Put(g.local, g.remote, 8, bad); });
    add("ARMCI_Get", [=](const Ground& g) { return ARMCI_Get(g.remote, g.local, 8, bad); });
    add("ARMCI_Acc", [=](const Ground& g) { return ARMCI_Acc(ARMCI_ACC_DBL, &scale, g.local, g.remote, 8, bad); });
    add("ARMCI_NbPut", [=](const Ground& g) { return ARMCI_NbPut(g.local, g.remote, 8, bad, nullptr); });
    add("ARMCI_NbGet", [=](const Ground& g) { return ARMCI_NbGet(g.remote, g.local, 8, bad, nullptr); });
    add("ARMCI_PutValueLong", [=](const Ground& g) { return ARMCI_PutValueLong(1, g.remote, bad); });
    add("ARMCI_NbPutValueInt", [=](const Ground& g) { return ARMCI_NbPutValueInt(1, g.remote, bad, nullptr); });
    add("ARMCI_PutS", [=](const Ground& g) {
      int count[] = {8, 2};
      return ARMCI_PutS(g.local, stride, g.remote, stride, count, 1, bad);
    });
    add("ARMCI_GetS", [=](const Ground& g) {
      int count[] = {8, 2};
      return ARMCI_GetS(g.remote, stride, g.local, stride, count, 1, bad);
    });
    add("ARMCI_PutV", [=](const Ground& g) {
      void* src[] = {g.local};
      void* dst[] = {g.remote};
      armci_giov_t giov = Descriptor(src, dst, 8, 1);
      return ARMCI_PutV(&giov, 1, bad);
    });
    add("ARMCI_Rmw", [=](const Ground& g) { return ARMCI_Rmw(ARMCI_SWAP_LONG, g.local, g.remote, 0, bad); });
    add("ARMCI_Put_flag", [=](const Ground& g) {
      return ARMCI_Put_flag(g.local, g.remote, 8, reinterpret_cast<int*>(g.remote + 64), 1, bad);
    });
    add("ARMCI_WaitProc", [=](const Ground&) { return ARMCI_WaitProc(bad); });
    add("armci_notify", [=](const Ground&) { return armci_notify(bad); });
    add("armci_notify_wait", [=](const Ground&) {
      int count = 0;
      return armci_notify_wait(bad, &count);
    });
  }
}

std::vector<BadCall> ContiguousRows() {
  std::vector<BadCall> rows;
  AddProcRows(&rows);
  const std::vector<BadCall> more{
      {"ARMCI_Put", "src", "", [](const Ground& g) { return ARMCI_Put(nullptr, g.remote, 8, g.target); }},
      {"ARMCI_Put", "dst", "", [](const Ground& g) { return ARMCI_Put(g.local, nullptr, 8, g.target); }},
      {"ARMCI_Put", "bytes", "-1", [](const Ground& g) { return ARMCI_Put(g.local, g.remote, -1, g.target); }},
      {"ARMCI_Get", "src", "", [](const Ground& g) { return ARMCI_Get(nullptr, g.local, 8, g.target); }},
      {"ARMCI_Get", "dst", "", [](const Ground& g) { return ARMCI_Get(g.remote, nullptr, 8, g.target); }},
      {"ARMCI_Get", "bytes", "-77", [](const Ground& g) { return ARMCI_Get(g.remote, g.local, -77, g.target); }},
      {"ARMCI_NbPut", "bytes", "-1",
       [](const Ground& g) { return ARMCI_NbPut(g.local, g.remote, -1, g.target, nullptr); }},
      {"ARMCI_Acc", "datatype", "99",
       [](const Ground& g) { return ARMCI_Acc(99, &scale, g.local, g.remote, 8, g.target); }},
      {"ARMCI_Acc", "datatype", "-1",
       [](const Ground& g) { return ARMCI_Acc(-1, &scale, g.local, g.remote, 8, g.target); }},
      {"ARMCI_Acc", "scale", "",
       [](const Ground& g) { return ARMCI_Acc(ARMCI_ACC_DBL, nullptr, g.local, g.remote, 8, g.target); }},
      {"ARMCI_Acc", "bytes", "-8",
       [](const Ground& g) { return ARMCI_Acc(ARMCI_ACC_DBL, &scale, g.local, g.remote, -8, g.target); }},
      {"ARMCI_Rmw", "op", "99", [](const Ground& g) { return ARMCI_Rmw(99, g.local, g.remote, 1, g.target); }},
      {"ARMCI_Rmw", "ploc", "",
       [](const Ground& g) { return ARMCI_Rmw(ARMCI_FETCH_AND_ADD, nullptr, g.remote, 1, g.target); }},
      {"ARMCI_Rmw", "prem", "",
       [](const Ground& g) { return ARMCI_Rmw(ARMCI_FETCH_AND_ADD, g.local, nullptr, 1, g.target); }},
      {"ARMCI_Rmw", "prem", "",
       [](const Ground& g) { return ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, g.local, g.remote + 4, 1, g.target); }},
      {"ARMCI_Put_flag", "flag", "",
       [](const Ground& g) { return ARMCI_Put_flag(g.local, g.remote, 8, nullptr, 1, g.target); }},
      {"ARMCI_Test", "hdl", "", [](const Ground&) { return ARMCI_Test(nullptr); }},
      {"ARMCI_Group_rank", "", "",
       [](const Ground&) {
         int rank = 0;
         return ARMCI_Group_rank(nullptr, &rank);
       }},
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

// Addresses that lie in no region of the target.
std::vector<BadCall> AddressRows() {
  return {
      {"ARMCI_Put", "dst", "", [](const Ground& g) { return ARMCI_Put(g.local, g.local, 8, g.target); }},
      {"ARMCI_Put", "dst", "", [](const Ground& g) { return ARMCI_Put(g.local, g.remote_end, 1, g.target); }},
      {"ARMCI_Put", "dst", "", [](const Ground& g) { return ARMCI_Put(g.local, g.remote_end - 7, 8, g.target); }},
      {"ARMCI_Get", "src", "", [](const Ground& g) { return ARMCI_Get(g.remote_end - 7, g.local, 8, g.target); }},
      {"ARMCI_NbPut", "dst", "",
       [](const Ground& g) { return ARMCI_NbPut(g.local, g.remote_end, 1, g.target, nullptr); }},
      {"ARMCI_PutValueLong", "dst", "", [](const Ground& g) { return ARMCI_PutValueLong(1, g.remote_end, g.target); }},
      {"ARMCI_Acc", "dst", "",
       [](const Ground& g) { return ARMCI_Acc(ARMCI_ACC_DBL, &scale, g.local, g.remote_end - 8, 16, g.target); }},
      {"ARMCI_Rmw", "prem", "",
       [](const Ground& g) { return ARMCI_Rmw(ARMCI_SWAP_LONG, g.local, g.remote_end, 1, g.target); }},
      {"ARMCI_PutS", "dst", "",
       [](const Ground& g) {
         int count[] = {8, 3};
         return ARMCI_PutS(g.local, stride, g.remote_end - 128, stride, count, 1, g.target);
       }},
      {"ARMCI_GetS", "src", "",
       [](const Ground& g) {
         int count[] = {8, 2};
         int back[] = {-static_cast<int>(kBytes)};
         return ARMCI_GetS(g.remote, back, g.local, stride, count, 1, g.target);
       }},
      {"ARMCI_Put_flag", "flag", "",
       [](const Ground& g) {
         return ARMCI_Put_flag(g.local, g.remote, 8, reinterpret_cast<int*>(g.remote_end), 1, g.target);
       }},
  };
}

std::vector<BadCall> StridedRows() {
  std::vector<BadCall> rows{
      {"ARMCI_PutS", "count", "-8",
       [](const Ground& g) {
         int count[] = {-8, 2};
         return ARMCI_PutS(g.local, stride, g.remote, stride, count, 1, g.target);
       }},
      {"ARMCI_GetS", "count", "-2",
       [](const Ground& g) {
         int count[] = {8, -2};
         return ARMCI_GetS(g.remote, stride, g.local, stride, count, 1, g.target);
       }},
      {"ARMCI_PutS", "count", "",
       [](const Ground& g) { return ARMCI_PutS(g.local, stride, g.remote, stride, nullptr, 1, g.target); }},
      {"ARMCI_PutS", "src_stride", "",
       [](const Ground& g) {
         int count[] = {8, 2};
         return ARMCI_PutS(g.local, nullptr, g.remote, stride, count, 1, g.target);
       }},
      {"ARMCI_NbGetS", "dst_stride", "",
       [](const Ground& g) {
         int count[] = {8, 2};
         return ARMCI_NbGetS(g.remote, stride, g.local, nullptr, count, 1, g.target, nullptr);
       }},
  };
  for (int levels : {-1, ARMCI_MAX_STRIDE_LEVEL + 1, 100}) {
    rows.push_back({"ARMCI_PutS", "stride_levels", Number(levels), [=](const Ground& g) {
                      int count[110] = {8};
                      int strides[110] = {};
                      return ARMCI_PutS(g.local, strides, g.remote, strides, count, levels, g.target);
                    }});
    rows.push_back({"ARMCI_AccS", "stride_levels", Number(levels), [=](const Ground& g) {
                      int count[110] = {8};
                      int strides[110] = {};
                      return ARMCI_AccS(ARMCI_ACC_DBL, &scale, g.local, strides, g.remote, strides, count, levels,
                                        g.target);
                    }});
  }
  return rows;
}

std::vector<BadCall> VectorRows() {
  return {
      {"ARMCI_PutV", "iov", "", [](const Ground& g) { return ARMCI_PutV(nullptr, 1, g.target); }},
      {"ARMCI_PutV", "len", "-1",
       [](const Ground& g) {
         armci_giov_t giov{};
         return ARMCI_PutV(&giov, -1, g.target);
       }},
      {"ARMCI_PutV", "ptr_array_len", "-3",
       [](const Ground& g) {
         void* src[] = {g.local};
         void* dst[] = {g.remote};
         armci_giov_t giov = Descriptor(src, dst, 8, -3);
         return ARMCI_PutV(&giov, 1, g.target);
       }},
      {"ARMCI_GetV", "bytes", "-5",
       [](const Ground& g) {
         void* src[] = {g.remote};
         void* dst[] = {g.local};
         armci_giov_t giov = Descriptor(src, dst, -5, 1);
         return ARMCI_GetV(&giov, 1, g.target);
       }},
      {"ARMCI_PutV", "src_ptr_array", "",
       [](const Ground& g) {
         void* dst[] = {g.remote};
         armci_giov_t giov = Descriptor(nullptr, dst, 8, 1);
         return ARMCI_PutV(&giov, 1, g.target);
       }},
      {"ARMCI_AccV", "datatype", "6",
       [](const Ground& g) {
         void* src[] = {g.local};
         void* dst[] = {g.remote};
         armci_giov_t giov = Descriptor(src, dst, 8, 1);
         return ARMCI_AccV(6, &scale, &giov, 1, g.target);
       }},
  };
}

std::vector<BadCall> ShapeRows() {
  std::vector<BadCall> rows = StridedRows();
  const std::vector<BadCall> more = VectorRows();
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

// ACC-5: lengths that are no multiple of the element, remote addresses without the type's alignment.
std::vector<BadCall> ElementRows() {
  std::vector<BadCall> rows;
  for (const AccType& type : kAccTypes) {
    const int code = type.code;
    const int bytes = static_cast<int>(type.bytes);
    const std::ptrdiff_t off = static_cast<std::ptrdiff_t>(type.align) / 2;
    rows.push_back({"ARMCI_Acc", "bytes", Number(bytes + 2), [=](const Ground& g) {
                      alignas(16) double one[2] = {};
                      return ARMCI_Acc(code, one, g.local, g.remote, bytes + 2, g.target);
                    }});
    rows.push_back({"ARMCI_AccS", "", Number(bytes - 1), [=](const Ground& g) {
                      alignas(16) double one[2] = {};
                      int count[] = {bytes - 1, 2};
                      return ARMCI_AccS(code, one, g.local, stride, g.remote, stride, count, 1, g.target);
                    }});
    rows.push_back({"ARMCI_Acc", "dst", "", [=](const Ground& g) {
                      alignas(16) double one[2] = {};
                      return ARMCI_Acc(code, one, g.local, g.remote + off, bytes, g.target);
                    }});
  }
  return rows;
}

bool Contains(const std::string& line, const std::string& what) { return line.find(what) != std::string::npos; }

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void ExpectError(const BadCall& bad, const Ground& ground) {
  if (!LibraryHas(bad.call)) return;
  const std::string what = bad.call + " with bad " + bad.argument + " " + bad.value;
  std::vector<std::string> lines;
  int code = 0;
  {
    CapturedStderr capture;
    code = bad.run(ground);
    lines = capture.Lines();
  }
  EXPECT_NE(code, 0) << what;
  if (!HasOwnInterface()) {
    // In any form, and with the argument under any name.
    const std::string all = Joined(lines);
    EXPECT_TRUE(Contains(all, bad.call) && Contains(all, bad.value)) << what << ": call or value missing in: " << all;
    return;
  }
  ASSERT_EQ(lines.size(), 1u) << what << ": one line on stderr, got " << (lines.empty() ? "none" : lines.back());
  EXPECT_TRUE(Contains(lines[0], bad.call)) << what << ": the call is missing in: " << lines[0];
  EXPECT_TRUE(Contains(lines[0], bad.argument)) << what << ": the argument is missing in: " << lines[0];
  EXPECT_TRUE(Contains(lines[0], bad.value)) << what << ": the value is missing in: " << lines[0];
  EXPECT_TRUE(Contains(lines[0], "rank " + Number(Me()))) << what << ": the rank is missing in: " << lines[0];
  EXPECT_TRUE(Contains(lines[0], "[") && lines[0].back() == ']') << what << ": no clause at the end of: " << lines[0];
}

// Every row on a fresh pattern; then memory must be as before, and the library must work.
void CheckRows(const std::vector<BadCall>& rows) {
  Region region(kBytes);
  const int target = (Me() + 1) % Np();
  Bytes local(kBytes, 'l');
  Bytes pattern(kBytes);
  SharedRng().Fill(pattern.data(), pattern.size());
  std::copy(pattern.begin(), pattern.end(), region.Mine());
  Sync();
  // The remote addresses are aligned to 64.
  const Ground ground{region.At(target, 2048), region.At(target, kBytes), local.data() + 1024, target};
  const Bytes local_before = local;
  for (const BadCall& bad : rows) ExpectError(bad, ground);
  EXPECT_TRUE(SameBytes(local_before.data(), local.data(), kBytes)) << "a failed call wrote to local memory";
  EXPECT_EQ(ARMCI_WaitAll(), 0);
  Sync();
  EXPECT_TRUE(SameBytes(pattern.data(), region.Mine(), kBytes)) << "a failed call wrote to remote memory";
  Sync();
  EXPECT_EQ(ARMCI_Put(local.data(), region.At(target), 64, target), 0) << "the library is usable";
  Sync();
  EXPECT_TRUE(SameBytes(local.data(), region.Mine(), 64));
}

CLAUSE_TEST(ERR, ERR1_bad_scalars_and_pointers, "ERR-1", "ERR-4") { CheckRows(ContiguousRows()); }
CLAUSE_TEST(ERR, ERR1_addresses_outside_every_region, "ERR-1", "ERR-4") { CheckRows(AddressRows()); }
CLAUSE_TEST(ERR, ERR1_bad_shapes, "ERR-1", "ERR-4") { CheckRows(ShapeRows()); }
CLAUSE_TEST(ERR, ACC5_bad_lengths_and_alignments_of_elements, "ACC-5", "ERR-1") { CheckRows(ElementRows()); }

}  // namespace
}  // namespace conformance
