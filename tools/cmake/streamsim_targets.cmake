# How streamsim is compiled (warnings, sanitizers), in one private target, and the functions that make modules and tests. A module's link line is its layer: tools/check_layers reads the includes and holds it to the picture in
# docs/developers/structure.md.

add_library(streamsim_options INTERFACE)
# Addition and multiplication are never fused: the same seed gives the same frame sizes in every build.
target_compile_options(streamsim_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
    -Woverloaded-virtual -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 finds overlaps in std::string that are not there (GCC bug 105651).
    target_compile_options(streamsim_options INTERFACE -Wno-restrict)
    if(STREAMSIM_BATCHES)
        # A file of a batch is included, and GCC takes what it includes for a header.
        target_compile_options(streamsim_options INTERFACE -Wno-subobject-linkage)
    endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # A precompiled header without its time: a compiler cache can compare it then.
    target_compile_options(streamsim_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
    target_compile_options(streamsim_options INTERFACE -Wthread-safety)  # by src/base/system/mutex.h
endif()
if(STREAMSIM_WERROR)
    target_compile_options(streamsim_options INTERFACE -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Found after inlining, and wrong as often as right: these stay warnings.
        target_compile_options(streamsim_options INTERFACE -Wno-error=maybe-uninitialized -Wno-error=array-bounds
            -Wno-error=stringop-overflow -Wno-error=stringop-overread -Wno-error=free-nonheap-object)
    endif()
endif()
if(STREAMSIM_SANITIZE)
    target_compile_options(streamsim_options INTERFACE
        -fsanitize=${STREAMSIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC 12 sees maybe-uninitialised values and overflows that its own instrumentation made.
        target_compile_options(streamsim_options INTERFACE
            -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow)
    endif()
    target_link_options(streamsim_options INTERFACE -fsanitize=${STREAMSIM_SANITIZE})
endif()
if(STREAMSIM_FUZZ)
    # The branches of all modules are counted; only the programs of tests/fuzz are linked with libFuzzer itself.
    target_compile_options(streamsim_options INTERFACE -fsanitize=fuzzer-no-link)
    target_compile_definitions(streamsim_options INTERFACE _GLIBCXX_ASSERTIONS)  # indices and empty optionals
endif()
if(STREAMSIM_RELOCATABLE)
    target_compile_options(streamsim_options INTERFACE
        -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
endif()
if(STREAMSIM_COVERAGE)
    # Each program counts in two profiles of its own, however often it runs, whatever its environment is, and, since the
    # counters are in the profile itself, however it ends.
    target_compile_options(streamsim_options INTERFACE
        -fprofile-instr-generate=${CMAKE_BINARY_DIR}/profiles/%c%2m.profraw -fcoverage-mapping
        "SHELL:-mllvm -runtime-counter-relocation")
    target_link_options(streamsim_options INTERFACE -fprofile-instr-generate)
endif()

# Some eighty test programs are linked: lld takes a fifth of the time of ld.
if(STREAMSIM_TESTS AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING)
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=lld STREAMSIM_HAS_LLD)
endif()

# The headers that most modules read, read once: in builds with sanitizers and the quick one, which are made to be
# tested and thrown away. clang-tidy reads each file as it stands, so that none leans on an include that it does
# not have.
if(STREAMSIM_SANITIZE OR STREAMSIM_COVERAGE)
    set(STREAMSIM_SHARED_HEADERS ON)
endif()
if(STREAMSIM_SHARED_HEADERS)
    target_compile_options(streamsim_options INTERFACE -pthread)  # a precompiled header is of all modules, or of none
    file(WRITE ${CMAKE_BINARY_DIR}/module_headers.cc "")
    add_library(streamsim_module_headers STATIC ${CMAKE_BINARY_DIR}/module_headers.cc)
    target_link_libraries(streamsim_module_headers
        PRIVATE streamsim_options fmt::fmt nlohmann_json::nlohmann_json)
    target_precompile_headers(streamsim_module_headers PRIVATE
        <algorithm> <functional> <map> <memory> <mutex> <optional> <span> <string> <vector> <fmt/format.h>
        <nlohmann/json.hpp>)
endif()

if(STREAMSIM_BATCHES)
    include(tools/cmake/batches.cmake)
endif()

# Sets `result` to the sources of a module: every .cc file below its folder. If a part has a file for each kind of
# system (PART_linux.cc, PART_windows.cc, PART_macos.cc, PART_posix.cc, PART_portable.cc), only the first that fits this
# one is taken. PART_absent.cc stands for what a library is missing for; a module adds it itself.
function(streamsim_sources result)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cc)
    list(FILTER files EXCLUDE REGEX "_absent\\.cc$")
    set(chosen "")
    foreach(file IN LISTS files)
        if(NOT file MATCHES "^(.*)_(linux|windows|macos|posix|portable)\\.cc$")
            list(APPEND chosen ${file})
            continue()
        endif()
        set(part ${CMAKE_MATCH_1})
        foreach(kind IN LISTS STREAMSIM_KINDS)
            if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part}_${kind}.cc)
                list(APPEND chosen ${part}_${kind}.cc)
                break()
            endif()
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES chosen)
    set(${result} ${chosen} PARENT_SCOPE)
endfunction()

# For what does nothing for each frame: lightly optimised, which compiles in half the time. The linker takes the first copy
# of an inline function that it meets, and that may be one of these: functions that run for each frame and are not small
# enough to be inlined everywhere, virtual ones above all, belong into a .cc of their module.
function(streamsim_cold target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# How a module's sources are compiled, all or those of its cold folders.
function(streamsim_module_options target modules libraries)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${target} PUBLIC ${modules} PRIVATE streamsim_options ${libraries})
    if(STREAMSIM_SHARED_HEADERS)
        target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
        target_precompile_headers(${target} REUSE_FROM streamsim_module_headers)
    endif()
    if(STREAMSIM_BATCHES)
        streamsim_batch(${target})
    endif()
endfunction()

# streamsim_module(<name> [COLD] [COLD_FOLDERS <folder>...] SOURCES <file>... [MODULES <module>...]
#                  [LIBRARIES <target>...])
# MODULES are public, other libraries stay inside. COLD, COLD_FOLDERS: all of it, or these, see streamsim_cold.
function(streamsim_module name)
    cmake_parse_arguments(MODULE "COLD" "" "COLD_FOLDERS;SOURCES;MODULES;LIBRARIES" ${ARGN})
    list(TRANSFORM MODULE_MODULES PREPEND streamsim_)
    if(MODULE_COLD_FOLDERS)
        list(JOIN MODULE_COLD_FOLDERS "|" folders)
        set(cold ${MODULE_SOURCES})
        list(FILTER cold INCLUDE REGEX "^(${folders})/")
        list(FILTER MODULE_SOURCES EXCLUDE REGEX "^(${folders})/")
        add_library(streamsim_${name}_cold OBJECT ${cold})
        streamsim_module_options(streamsim_${name}_cold "${MODULE_MODULES}" "${MODULE_LIBRARIES}")
        streamsim_cold(streamsim_${name}_cold)
        list(APPEND MODULE_SOURCES $<TARGET_OBJECTS:streamsim_${name}_cold>)
    endif()
    add_library(streamsim_${name} STATIC ${MODULE_SOURCES})
    streamsim_module_options(streamsim_${name} "${MODULE_MODULES}" "${MODULE_LIBRARIES}")
    if(MODULE_COLD)
        streamsim_cold(streamsim_${name})
    endif()
endfunction()

# Building the target tests_<label> builds the tests of that label.
function(streamsim_label test label)
    if(NOT TARGET tests_${label})
        add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${test})
endfunction()

# The warnings that tests do without.
function(streamsim_test_warnings name)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC 12 finds more of them where headers are precompiled; `if (x) EXPECT_EQ(...)` is no dangling else.
        target_compile_options(${name} PRIVATE -Wno-stringop-overflow -Wno-array-bounds -Wno-dangling-else)
    endif()
endfunction()

# How tests are compiled. Most are not optimised, which takes two thirds of the time, and have precompiled headers;
# `computes`: those that compute for longer than they compile.
function(streamsim_test_options name computes)
    streamsim_test_warnings(${name})
    target_compile_definitions(${name} PRIVATE STREAMSIM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE streamsim_options)
    if(STREAMSIM_HAS_LLD)
        target_link_options(${name} PRIVATE -fuse-ld=lld)
    endif()
    if(NOT computes)
        target_compile_options(${name} PRIVATE -O0)
        target_precompile_headers(${name} REUSE_FROM streamsim_test_headers)
        target_link_libraries(${name} PRIVATE streamsim_test_headers)
    endif()
    if(STREAMSIM_BATCHES)
        streamsim_batch(${name})
    endif()
endfunction()

# streamsim_test_library(<name> <source>...): what several test programs need, compiled once.
function(streamsim_test_library name)
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
    streamsim_test_options(${name} NO)
endfunction()

# The headers that most tests include, read once for all: they are most of the time that a test takes to compile.
function(streamsim_make_test_headers)
    add_library(streamsim_test_templates STATIC ${CMAKE_CURRENT_SOURCE_DIR}/test_templates.cc)
    target_link_libraries(streamsim_test_templates
        PRIVATE streamsim_options GTest::gmock nlohmann_json::nlohmann_json)
    streamsim_cold(streamsim_test_templates)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc "")
    add_library(streamsim_test_headers STATIC ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc)
    target_link_libraries(streamsim_test_headers
        PRIVATE streamsim_options PUBLIC GTest::gmock fmt::fmt nlohmann_json::nlohmann_json streamsim_test_templates)
    streamsim_test_warnings(streamsim_test_headers)
    target_compile_options(streamsim_test_headers PRIVATE -O0)
    target_precompile_headers(streamsim_test_headers PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/test_headers.h)
endfunction()

# The properties of tests that wait in real time for storage of known slowness: they need a fifth of a processor, and have
# it at once. They run after those that compute (COST), three at once on two processors: tools/test runs three others on
# each.
set(streamsim_calm PROCESSORS 2 COST -1)

# streamsim_test(<name> SOURCES <file>... MODULES <module>... LABELS <label>... [TIMEOUT <seconds>] [ONE_THREAD]
#                [ALONE] [CALM] [CALM_CASES <filter>] [SLOW <filter>] [COMPUTES] [PORTABLE])
# One GoogleTest program; every case is a ctest of its own, but for unit and sim with sanitizers. ONE_THREAD: nothing in it has threads, so that the thread
# sanitizer has nothing to find and it is not built for that. ALONE: no other test runs beside it; time is what it
# measures. CALM, CALM_CASES: all of it, or these cases, see streamsim_calm. SLOW: the cases that are of tools/test --all
# alone, as a filter of GoogleTest. COMPUTES: it is optimised, since it computes for longer than it compiles; the inline
# functions of modules that it calls are its own copies, and the linker takes these for the modules too. PORTABLE: it asks
# nothing of Linux; only these are built for other systems, with the label portable there.
function(streamsim_test name)
    cmake_parse_arguments(TEST "ONE_THREAD;ALONE;CALM;COMPUTES;PORTABLE" "TIMEOUT;SLOW;CALM_CASES" "SOURCES;MODULES;LIBRARIES;LABELS" ${ARGN})
    if(TEST_ONE_THREAD AND STREAMSIM_SANITIZE STREQUAL "thread")
        return()
    endif()
    if(CMAKE_CROSSCOMPILING)
        if(NOT TEST_PORTABLE)
            return()
        endif()
        set(TEST_LABELS portable)
    endif()
    if(STREAMSIM_SANITIZE STREQUAL "thread")
        list(APPEND TEST_SOURCES ${PROJECT_SOURCE_DIR}/tests/thread_suppressions.cc)
    endif()
    add_executable(${name} ${TEST_SOURCES})
    list(TRANSFORM TEST_MODULES PREPEND streamsim_)
    target_link_libraries(${name} PRIVATE ${TEST_MODULES} ${TEST_LIBRARIES} GTest::gmock_main)
    streamsim_test_options(${name} ${TEST_COMPUTES})
    foreach(label IN LISTS TEST_LABELS)
        streamsim_label(${name} ${label})
    endforeach()
    if(NOT TEST_TIMEOUT)
        set(TEST_TIMEOUT 120)
    endif()
    if(STREAMSIM_COVERAGE)  # branches are counted, and little is optimised
        math(EXPR TEST_TIMEOUT "8 * ${TEST_TIMEOUT}")
    endif()
    if(CMAKE_CROSSCOMPILING)  # each start of the emulator takes long: all cases in one
        add_test(NAME ${name} COMMAND ${name})
        set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT})
        return()
    endif()
    set(properties RUN_SERIAL ${TEST_ALONE})
    if(TEST_CALM)
        set(properties ${streamsim_calm})
    endif()
    set(others "")
    if(TEST_SLOW)
        list(APPEND others ${TEST_SLOW})
        gtest_discover_tests(${name} TEST_FILTER ${TEST_SLOW} TEST_LIST ${name}_SLOW DISCOVERY_TIMEOUT 60
                             PROPERTIES LABELS slow TIMEOUT ${TEST_TIMEOUT} ${properties})
    endif()
    if(TEST_CALM_CASES)
        list(APPEND others ${TEST_CALM_CASES})
        gtest_discover_tests(${name} TEST_FILTER ${TEST_CALM_CASES} TEST_LIST ${name}_CALM DISCOVERY_TIMEOUT 60
                             PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} ${streamsim_calm})
    endif()
    if(others)
        list(JOIN others ":" others)
    endif()
    if(STREAMSIM_SANITIZE AND NOT "cli" IN_LIST TEST_LABELS AND NOT "real" IN_LIST TEST_LABELS)
        # Each start of such a program takes a tenth of a second of a processor: a quarter of the cases in each.
        foreach(shard RANGE 3)
            add_test(NAME ${name}.${shard} COMMAND ${name} --gtest_filter=-${others})
            set_tests_properties(${name}.${shard} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT 900 ${properties}
                                 ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard}")
        endforeach()
        return()
    endif()
    if(others)
        set(others TEST_FILTER -${others})
    endif()
    gtest_discover_tests(${name} ${others} DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} ${properties})
endfunction()
