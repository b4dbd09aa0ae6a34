# The libraries of other people, under the same target names on every system. STREAMSIM_LINUX: with all that only
# Linux has (io_uring, and the servers and file systems that it mounts).
# STREAMSIM_KINDS: what this system is, the nearest first; files are chosen by it.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(STREAMSIM_LINUX ON)
    set(STREAMSIM_KINDS linux posix portable)
elseif(WIN32)
    set(STREAMSIM_LINUX OFF)
    set(STREAMSIM_KINDS windows portable)
elseif(APPLE)
    set(STREAMSIM_LINUX OFF)
    set(STREAMSIM_KINDS macos posix portable)
else()
    set(STREAMSIM_LINUX OFF)
    set(STREAMSIM_KINDS posix portable)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)  # its headers: Boost.Math
find_package(PkgConfig REQUIRED)
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)
pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(LIBAV REQUIRED libavformat libavcodec libavutil)
if(STREAMSIM_LINUX)
    pkg_check_modules(LIBURING REQUIRED IMPORTED_TARGET liburing)
    set(required REQUIRED)
    # Optional: libraries for smb:// and for runs over several computers.
    pkg_check_modules(SMBCLIENT IMPORTED_TARGET smbclient)
    pkg_search_module(MPI IMPORTED_TARGET ompi-c mpich)
endif()
pkg_check_modules(LIBNFS IMPORTED_TARGET libnfs)  # optional, on every system: nfs://
# Elsewhere without them: no EXR is made, and there is no --metrics.
pkg_check_modules(MICROHTTPD ${required} IMPORTED_TARGET libmicrohttpd)
find_package(OpenEXR CONFIG ${required})
