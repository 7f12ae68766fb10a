# `cmake --install` gives bin/spnn, lib/libspnn.so, the public headers, the models and a package for find_package(spnn);
# `cpack` makes a .deb of the same.
include(CMakePackageConfigHelpers)
include(PublicHeaders)
install(TARGETS spnn EXPORT spnnTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS spnn_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
spnn_public_headers(headers)
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/spnn/models FILES_MATCHING PATTERN "*.safetensors" PATTERN "*.md")
install(FILES cmake/completions/spnn.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME spnn)
install(FILES cmake/completions/_spnn DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT spnnTargets NAMESPACE spnn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spnn)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/spnnConfig.cmake.in ${CMAKE_BINARY_DIR}/spnnConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spnn)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/spnnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/spnnConfig.cmake ${CMAKE_BINARY_DIR}/spnnConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spnn)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the spnn developers <spnn@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libtorch-dev, nlohmann-json3-dev, libfmt-dev")   # to build against the headers
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
include(CPack)
