// What the thread sanitizer takes for a race and is none. libuv, which is not instrumented, closes its
// descriptors by the bare system call: the sanitizer does not see that end, and books the next owner of the
// same number, a directory that the C++ library reads, with what another thread did to the last one.
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
    return "race:closedir\n";
}
