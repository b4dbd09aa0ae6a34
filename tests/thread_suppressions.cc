// False reports of the thread sanitizer. libuv, which is not instrumented, closes its descriptors by the bare
// system call: the sanitizer does not see that end, and reports a race between the next owner of the same
// number, a directory that the C++ library reads or a socket of a test, and another thread's use of the last
// one. ZeroMQ is not instrumented either: the sanitizer sees the memory that it hands from thread to thread,
// and not how.
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
    return "race:closedir\n"
           "called_from_lib:libzmq.so\n"
           "race:std::basic_streambuf*xsputn\n"
           "race:streamsim::seats::ZmqSocket::receive\n"
           "race:streamsim::test::Relay\n";
}
