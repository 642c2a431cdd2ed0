// The symbol ties a program to the header that it was compiled with. A program built with a header of another ABI needs
// another symbol and does not link.
extern "C" {
[[gnu::visibility("default")]] extern const int armci_abi_version_1;
const int armci_abi_version_1 = 1;
}
