// spmv - y = A x with a real sparse matrix from a file; rows distributed, x fetched by one-sided gets.
//
// Process 0 reads the file and puts each process's rows into that process's memory. x and y are cut into blocks, one
// for each process. Before the products every process finds out once which elements of x its rows need, and which
// processes have them: where it needs most of a stretch, one contiguous get brings the stretch; where the columns are
// scattered, one vector get brings just these elements. A product is then: fetch, multiply. The result goes to process
// 0 by puts and is compared with the product that process 0 computes alone from the file.
//
// Run:    mpirun -n 4 ./spmv FILE [PRODUCTS]      (FILE: Harwell-Boeing or MatrixMarket; default 20 products)
// Prints: sizes, kinds of gets, the time, then "spmv: PASS ..." (exit status 0) or "spmv: FAIL ..." (1); a file that
//         cannot be read ends with one line that says why (1), wrong usage with 2.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "matrix_reader.h"

namespace {

int me = 0;
int nproc = 1;

void Check(int code, const char* call) {
  if (code != 0) ARMCI_Error(call, code);
}

// count things dealt out to the processes in blocks that differ by one at most.
struct Blocks {
  int64_t count;

  int64_t Begin(int p) const { return count * p / nproc; }
  int64_t Size(int p) const { return Begin(p + 1) - Begin(p); }
  int OwnerOf(int64_t index) const {
    int p = static_cast<int>((index * nproc + nproc - 1) / count);
    while (Begin(p) > index) --p;
    while (Begin(p + 1) <= index) ++p;
    return p;
  }
};

// An array that each process has a part of. Making and deleting it are collective; a part may be empty.
template <typename T>
class SharedArray {
 public:
  explicit SharedArray(int64_t own_count) : parts_(nproc) {
    Check(ARMCI_Malloc(parts_.data(), static_cast<armci_size_t>(own_count * sizeof(T))), "ARMCI_Malloc");
  }
  ~SharedArray() { Check(ARMCI_Free(parts_[me]), "ARMCI_Free"); }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  T* part(int p) const { return static_cast<T*>(parts_[p]); }
  T* own() const { return part(me); }

  void Put(const T* from, int64_t count, int p, int64_t offset = 0) const {
    if (count > 0) Check(ARMCIX_Put(from, part(p) + offset, count * sizeof(T), p), "ARMCIX_Put");
  }

 private:
  std::vector<void*> parts_;
};

double ElementOfX(int64_t index) { return 1.0 + static_cast<double>(index % 17) / 8.0; }

// The rows of one process, in its own memory.
struct LocalRows {
  const int64_t* row_start;
  const int64_t* column;
  const double* value;
  int64_t rows;
  int64_t entries;
};

// The gets that bring the needed elements of x into one local array, and where each entry of the rows finds its own.
class Fetch {
 public:
  Fetch(const LocalRows& rows, const Blocks& columns, const SharedArray<double>& x) {
    std::map<int, std::vector<int64_t>> needed;  // owner -> columns, each once, ascending
    std::vector<int64_t> all(rows.column, rows.column + rows.entries);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (!all.empty() && (all.front() < 0 || all.back() >= columns.count)) ARMCI_Error("a column is out of range", 1);
    for (int64_t column : all) needed[columns.OwnerOf(column)].push_back(column);
    std::map<int64_t, int64_t> position_of;
    for (const auto& [owner, wanted] : needed) Plan(owner, wanted, columns.Begin(owner), x, &position_of);
    local_.resize(local_count_);
    positions_.reserve(rows.entries);
    for (int64_t i = 0; i < rows.entries; ++i) positions_.push_back(position_of.at(rows.column[i]));
    // Only now: the array does not move any more.
    for (Scattered& get : scattered_) {
      for (size_t i = 0; i < get.from.size(); ++i) get.to.push_back(&local_[get.local + i]);
      get.descriptor = {get.from.data(), get.to.data(), sizeof(double), get.from.size()};
    }
  }

  // All gets are pending together, for any number of owners.
  void Run() {
    for (const Stretch& get : stretches_) {
      Check(ARMCIX_NbGet(get.from, &local_[get.local], get.count * sizeof(double), get.owner, nullptr), "ARMCIX_NbGet");
    }
    for (const Scattered& get : scattered_) {
      Check(ARMCIX_NbGetV(&get.descriptor, 1, get.owner, nullptr), "ARMCIX_NbGetV");
    }
    Check(ARMCI_WaitAll(), "ARMCI_WaitAll");
  }

  double operator[](int64_t entry) const { return local_[positions_[entry]]; }

  // Contiguous gets, vector gets, elements fetched by the vector gets.
  std::vector<int64_t> Counts() const {
    int64_t elements = 0;
    for (const Scattered& get : scattered_) elements += static_cast<int64_t>(get.from.size());
    return {static_cast<int64_t>(stretches_.size()), static_cast<int64_t>(scattered_.size()), elements};
  }

 private:
  struct Stretch {
    int owner;
    const double* from;
    int64_t count;
    int64_t local;
  };
  struct Scattered {
    int owner;
    int64_t local;
    std::vector<void*> from;
    std::vector<void*> to;
    armcix_giov_t descriptor;
  };

  void Plan(int owner, const std::vector<int64_t>& wanted, int64_t begin, const SharedArray<double>& x,
            std::map<int64_t, int64_t>* position_of) {
    int64_t span = wanted.back() - wanted.front() + 1;
    int64_t count = static_cast<int64_t>(wanted.size());
    if (span <= 2 * count) {
      for (int64_t column : wanted) (*position_of)[column] = local_count_ + column - wanted.front();
      stretches_.push_back({owner, x.part(owner) + (wanted.front() - begin), span, local_count_});
      local_count_ += span;
      return;
    }
    Scattered get = {owner, local_count_, {}, {}, {}};
    for (int64_t column : wanted) {
      (*position_of)[column] = local_count_++;
      get.from.push_back(x.part(owner) + (column - begin));
    }
    scattered_.push_back(std::move(get));
  }

  std::vector<Stretch> stretches_;
  std::vector<Scattered> scattered_;
  std::vector<double> local_;
  std::vector<int64_t> positions_;
  int64_t local_count_ = 0;
};

// Process 0 compares with its own product; returns the number of wrong rows there, 0 elsewhere.
int64_t CompareWithSerial(const sparse::Matrix& matrix, const double* y) {
  int64_t wrong = 0;
  double largest = 0;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    double sum = 0;
    double magnitude = 0;
    for (int64_t i = matrix.row_start[row]; i < matrix.row_start[row + 1]; ++i) {
      double term = matrix.value[i] * ElementOfX(matrix.column[i]);
      sum += term;
      magnitude += std::abs(term);
    }
    // The same additions in the same order: only contraction of multiply and add by the compiler may differ.
    double entries = static_cast<double>(matrix.row_start[row + 1] - matrix.row_start[row]);
    double allowed = entries * std::numeric_limits<double>::epsilon() * magnitude;
    double difference = std::abs(y[row] - sum);
    if (!(difference <= allowed)) ++wrong;  // written so that a NaN is wrong
    largest = std::max(largest, difference);
  }
  std::printf("spmv: largest difference from the serial product %.3g\n", largest);
  return wrong;
}

// The rows of all processes, sent by process 0 (the only one that has the whole matrix).
class DistributedRows {
 public:
  DistributedRows(const sparse::Matrix* whole, const Blocks& rows)
      : rows_(rows.Size(me)),
        entries_(ScatterCounts(whole, rows)),
        row_start_(rows_ + 1),
        column_(entries_),
        value_(entries_) {
    if (whole != nullptr) {
      for (int p = 0; p < nproc; ++p) Send(*whole, rows, p);
    }
    ARMCI_Barrier();
    CheckArrived();
  }

  LocalRows Local() const { return {row_start_.own(), column_.own(), value_.own(), rows_, entries_}; }

 private:
  static int64_t ScatterCounts(const sparse::Matrix* whole, const Blocks& rows) {
    std::vector<int64_t> counts;
    for (int p = 0; whole != nullptr && p < nproc; ++p)
      counts.push_back(whole->row_start[rows.Begin(p + 1)] - whole->row_start[rows.Begin(p)]);
    int64_t mine = 0;
    MPI_Scatter(counts.data(), 1, MPI_INT64_T, &mine, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return mine;
  }

  void Send(const sparse::Matrix& whole, const Blocks& rows, int p) const {
    int64_t first = whole.row_start[rows.Begin(p)];
    std::vector<int64_t> starts(whole.row_start.begin() + rows.Begin(p),
                                whole.row_start.begin() + rows.Begin(p + 1) + 1);
    for (int64_t& start : starts) start -= first;
    row_start_.Put(starts.data(), static_cast<int64_t>(starts.size()), p);
    column_.Put(whole.column.data() + first, starts.back(), p);
    value_.Put(whole.value.data() + first, starts.back(), p);
  }

  // The loops below trust these indices; a wrong value among the numbers is found by the comparison at the end.
  void CheckArrived() const {
    const int64_t* start = row_start_.own();
    bool right = start[0] == 0 && start[rows_] == entries_ && std::is_sorted(start, start + rows_ + 1);
    if (!right) ARMCI_Error("the rows did not arrive as they were sent", 1);
  }

  int64_t rows_;
  int64_t entries_;
  SharedArray<int64_t> row_start_;
  SharedArray<int64_t> column_;
  SharedArray<double> value_;
};

// y of the own rows; x is fetched again for each product, as in an iterative solver. Returns the median seconds.
double Multiply(const LocalRows& rows, int products, Fetch* x, std::vector<double>* y) {
  std::vector<double> seconds;
  for (int product = 0; product < products; ++product) {
    ARMCI_Barrier();
    double start = MPI_Wtime();
    x->Run();
    for (int64_t row = 0; row < rows.rows; ++row) {
      double sum = 0;
      for (int64_t i = rows.row_start[row]; i < rows.row_start[row + 1]; ++i) sum += rows.value[i] * (*x)[i];
      (*y)[row] = sum;
    }
    ARMCI_Barrier();
    seconds.push_back(MPI_Wtime() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + products / 2, seconds.end());
  return seconds[products / 2];
}

// Collective; returns the number of wrong rows, on every process.
int64_t Run(const sparse::Matrix* whole, int64_t row_count, int64_t column_count, int products) {
  Blocks rows = {row_count};
  Blocks columns = {column_count};
  DistributedRows matrix(whole, rows);
  SharedArray<double> x(columns.Size(me));
  SharedArray<double> y_all(me == 0 ? row_count : 0);

  if (x.own() != nullptr) {
    ARMCI_Access_begin(x.own());
    for (int64_t i = 0; i < columns.Size(me); ++i) x.own()[i] = ElementOfX(columns.Begin(me) + i);
    ARMCI_Access_end(x.own());
  }
  ARMCI_Barrier();

  LocalRows local = matrix.Local();
  Fetch fetch(local, columns, x);
  std::vector<int64_t> counts = fetch.Counts();
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  std::vector<double> y(rows.Size(me));
  double seconds = Multiply(local, products, &fetch, &y);
  y_all.Put(y.data(), rows.Size(me), 0, rows.Begin(me));
  ARMCI_Barrier();

  int64_t wrong = 0;
  if (whole != nullptr) {
    std::printf("spmv: x fetched by %lld contiguous gets and %lld vector gets of %lld elements in all\n",
                static_cast<long long>(counts[0]), static_cast<long long>(counts[1]),
                static_cast<long long>(counts[2]));
    wrong = CompareWithSerial(*whole, y_all.own());
    std::printf("spmv: %s, y = A x verified for %lld of %lld rows; %.1f us a product (median of %d)\n",
                wrong == 0 ? "PASS" : "FAIL", static_cast<long long>(row_count - wrong),
                static_cast<long long>(row_count), seconds * 1e6, products);
  }
  MPI_Bcast(&wrong, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return wrong;
}

// Process 0 reads; all learn whether it could, so that all end alike. Returns the exit status.
int ReadAndRun(const std::string& path, int products) {
  std::optional<sparse::Matrix> whole;
  int64_t sizes[2] = {0, 0};
  if (me == 0) {
    std::string error;
    whole = sparse::ReadMatrixFile(path, &error);
    if (whole) {
      sizes[0] = whole->rows;
      sizes[1] = whole->columns;
      std::printf("spmv: %s: %lld x %lld, %zu entries, %d processes\n", path.c_str(),
                  static_cast<long long>(whole->rows), static_cast<long long>(whole->columns), whole->value.size(),
                  nproc);
    } else {
      std::fprintf(stderr, "spmv: %s\n", error.c_str());
    }
  }
  MPI_Bcast(sizes, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (sizes[0] == 0) return 1;
  return Run(whole ? &*whole : nullptr, sizes[0], sizes[1], products) == 0 ? 0 : 1;
}

// 0 when text is no whole number from 1 to limit.
int ParseCount(const char* text, int limit) {
  char* end = nullptr;
  long value = std::strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && value >= 1 && value <= limit ? static_cast<int>(value) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Check(ARMCI_Init(), "ARMCI_Init");
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &nproc);

  int status = 2;
  int products = argc > 2 ? ParseCount(argv[2], 1000000) : 20;
  if ((argc == 2 || argc == 3) && products > 0) {
    status = ReadAndRun(argv[1], products);
  } else if (me == 0) {
    std::fprintf(stderr, "usage: spmv FILE [PRODUCTS]   with FILE in Harwell-Boeing or MatrixMarket format\n");
  }

  ARMCI_Finalize();
  MPI_Finalize();
  return status;
}
