# Run by CPack on the installed files before it packs them: adds what only a package of Debian has, in Debian's folders.
set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(doc ${usr}/share/doc/streamsim)

file(WRITE ${doc}/copyright
"streamsim
Copyright: the contributors to streamsim
License: Apache-2.0, whose text is in /usr/share/common-licenses/Apache-2.0

The program contains code of the libraries below, under the licences that Debian's packages of them state, and of
Boost, under the Boost Software License 1.0.
")
configure_file(${CPACK_STREAMSIM_SBOM} ${doc}/sbom.spdx.json COPYONLY)
string(REPEAT "-" 100 line)
foreach(package libcli11-dev nlohmann-json3-dev libjs-chart.js)
    file(READ /usr/share/doc/${package}/copyright text)
    file(APPEND ${doc}/copyright "\n${line}\n${package}\n\n${text}")
endforeach()

# The time is SOURCE_DATE_EPOCH, the time of the commit.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog
"streamsim (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * The changes are in NEWS.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md ${doc}/NEWS)
execute_process(COMMAND gzip -9 -n ${doc}/changelog ${doc}/NEWS ${usr}/share/man/man1/streamsim.1
                COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
