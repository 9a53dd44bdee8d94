# make check and make install
#
#   PREFIX      where things go                                  (default /usr/local)
#   DESTDIR     put in front of PREFIX while copying             (default nothing)
#   PYTHONDIR   where Python modules go                          (default the folder below PREFIX that Python searches)

check:
	@sh $(top)/conf/check.sh

prefix := $(abspath $(PREFIX))
# The Python of PREFIX, of a virtual environment for one, else the system's; asked once, and only by install
install_python = $(firstword $(wildcard $(prefix)/bin/python3) $(PYTHON))
PYTHONDIR ?= $(eval PYTHONDIR := $$(shell $(install_python) -B $(top)/conf/pythondir.py $(prefix)))$(PYTHONDIR)
module     = $(DESTDIR)$(abspath $(or $(PYTHONDIR),$(error No Python says where its modules go: give PYTHONDIR=<folder>)))/petsc_kcycle

# A PETSc that pkg-config finds by name is required by that name; one that came by PETSC_DIR is written out
ifeq ($(findstring /,$(PETSC_PC)),)
  pc_requires = $(PETSC_PC)
else
  pc_cflags = $(shell pkg-config --cflags $(PETSC_PC))
  pc_libs   = $(shell pkg-config --libs $(PETSC_PC)) -Wl,-rpath,$(call petsc_var,libdir)
endif

# What a smoother of a program's own needs, see PCRelaxRegister()
private_headers = $(addprefix $(top)/include/petsckcycle/private/,boximpl.h compat.h factsimpl.h kernelimpl.h levelimpl.h point.h policyimpl.h smootherimpl.h stencilimpl.h threads.h transferimpl.h)

install: all
	install -d $(DESTDIR)$(prefix)/lib/pkgconfig $(DESTDIR)$(prefix)/include/petsckcycle/private $(DESTDIR)$(prefix)/share/petsckcycle $(module)
	install -m 755 $(LIBRARY) $(DESTDIR)$(prefix)/lib/libpetsckcycle.so
	install -m 644 $(top)/include/petsckcycle.h $(DESTDIR)$(prefix)/include/
	install -m 644 $(private_headers) $(DESTDIR)$(prefix)/include/petsckcycle/private/
	install -m 644 $(wildcard $(top)/README.md $(top)/LICENSE) $(top)/VERSION.txt $(DESTDIR)$(prefix)/share/petsckcycle/
	install -m 644 $(top)/python/petsc_kcycle/__init__.py $(top)/VERSION.txt $(module)/
	ln -srf $(DESTDIR)$(prefix)/lib/libpetsckcycle.so $(module)/libpetsckcycle.so
	sed -e 's|@PREFIX@|$(prefix)|' -e 's|@CC@|$(CC)|' -e 's|@VERSION@|$(version)|' -e 's|@REQUIRES@|$(pc_requires)|' \
	    -e 's|@CFLAGS@|$(pc_cflags)|' -e 's|@LIBS@|$(pc_libs)|' -e '/^Requires: *$$/d' -e 's| *$$||' \
	    $(top)/conf/petsckcycle.pc.in > $(DESTDIR)$(prefix)/lib/pkgconfig/petsckcycle.pc
	@$(install_python) -B $(top)/conf/pythondir.py --note $(abspath $(PYTHONDIR)) || true
