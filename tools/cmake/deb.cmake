# The package for Debian, made by CPack: tools/packages/deb.py sets STREAMSIM_DEB, builds, and runs cpack.

set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "streamsim maintainers <maintainers@users.noreply.a-seed-0c3e3ce8.example>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plays media from storage and counts the frames that are late")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"streamsim reads each frame of ProRes clips, image sequences and other media
on its deadline, as an edit system does, for as many streams as are asked
for, and counts every frame that missed it. It plays from real storage in
real time, and from models of clusters in virtual time.")
# dpkg-shlibdeps finds the libraries that the program links; libav is opened at run time, in the version of its headers.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(opened "")
foreach(name libavformat libavcodec libavutil)
    string(REGEX MATCH "^[0-9]+" major ${LIBAV_${name}_VERSION})
    list(APPEND opened ${name}${major})
endforeach()
list(JOIN opened ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/cmake/deb_files.cmake)
include(CPack)
