// The symbol that ties a program to the header it was compiled with: a program built with a header of another ABI asks
// for another name and does not link.
extern "C" {
[[gnu::visibility("default")]] extern const int armci_abi_version_1;
const int armci_abi_version_1 = 1;
}
