# SPDX-License-Identifier: BSD-2-Clause
#
# find_package(pier) defines the target pier::pier, and pier::uv if libuv is
# there.  Everything is found from where this file is, so that the installation
# may be moved.
cmake_minimum_required(VERSION 3.10...3.25)

get_filename_component(_pier_lib "${CMAKE_CURRENT_LIST_DIR}/../.." REALPATH)
unset(pier_INCLUDE_DIR CACHE)
find_path(pier_INCLUDE_DIR pier/pier.h
	HINTS "${_pier_lib}/../include" "${_pier_lib}/../../include"
	NO_DEFAULT_PATH)
if(NOT pier_INCLUDE_DIR OR NOT EXISTS "${_pier_lib}/libpier.so")
	set(pier_FOUND FALSE)
	set(pier_NOT_FOUND_MESSAGE "no pier/pier.h or libpier.so at ${_pier_lib}")
	return()
endif()

if(NOT TARGET pier::pier)
	add_library(pier::pier SHARED IMPORTED)
	set_target_properties(pier::pier PROPERTIES
		IMPORTED_LOCATION "${_pier_lib}/libpier.so"
		INTERFACE_INCLUDE_DIRECTORIES "${pier_INCLUDE_DIR}")
endif()

find_library(pier_UV_LIBRARY uv)
if(pier_UV_LIBRARY AND EXISTS "${_pier_lib}/libpier-uv.so" AND
   NOT TARGET pier::uv)
	add_library(pier::uv SHARED IMPORTED)
	set_target_properties(pier::uv PROPERTIES
		IMPORTED_LOCATION "${_pier_lib}/libpier-uv.so"
		INTERFACE_LINK_LIBRARIES "pier::pier;${pier_UV_LIBRARY}")
endif()
set(pier_FOUND TRUE)
