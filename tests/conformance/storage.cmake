# Every storage backend under one contract, and the faults with their exact instants.
streamsim_test(storage_conformance_test
    SOURCES storage_conformance_test.cc storage_backends.cc
    ROOMS storage loop
    LIBRARIES fmt::fmt PkgConfig::LIBUV
    LABELS unit)
streamsim_test(storage_fault_test
    SOURCES storage_fault_test.cc
    ROOMS storage loop
    LABELS unit)
