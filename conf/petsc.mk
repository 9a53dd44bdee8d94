# Finds PETSc: PETSC_DIR (with PETSC_ARCH for a build inside a source tree), or what pkg-config finds.
#
# Sets PETSC_PC (module or file for pkg-config), petsc_prefix, petsc_version and the pair petsc_conf_dir/petsc_conf_arch
# that PETSc's own make files want.

ifneq ($(PETSC_DIR),)
  PETSC_PC := $(firstword $(wildcard $(PETSC_DIR)/$(PETSC_ARCH)/lib/pkgconfig/PETSc.pc $(PETSC_DIR)/$(PETSC_ARCH)/lib/pkgconfig/petsc.pc))
  petsc_asked := PETSC_DIR=$(PETSC_DIR) PETSC_ARCH=$(PETSC_ARCH)
else
  PETSC_PC := $(firstword $(shell pkg-config --exists PETSc 2>/dev/null && echo PETSc) $(shell pkg-config --exists petsc 2>/dev/null && echo petsc))
  petsc_asked := pkg-config (PETSC_DIR is not set)
endif

ifneq ($(PETSC_PC),)
  petsc_var      = $(shell pkg-config --variable=$(1) $(PETSC_PC))
  petsc_prefix  := $(call petsc_var,prefix)
  petsc_version := $(shell pkg-config --modversion $(PETSC_PC))
  # A build inside the source tree keeps its general headers next to PETSC_ARCH, an installed one below its prefix
  ifneq ($(wildcard $(petsc_prefix)/include/petsc.h),)
    petsc_conf_dir  := $(petsc_prefix)
    petsc_conf_arch :=
  else
    petsc_conf_dir  := $(patsubst %/,%,$(dir $(petsc_prefix)))
    petsc_conf_arch := $(notdir $(petsc_prefix))
  endif
  # PETSc's test harness: in the source tree, or below share/ of an installed PETSc (Debian: the package of examples)
  petsc_harness := $(firstword $(wildcard $(petsc_conf_dir)/gmakefile.test $(petsc_prefix)/share/petsc/examples/gmakefile.test))
  # PETSc's own tutorials
  petsc_tutorials := $(firstword $(wildcard $(petsc_conf_dir)/src/ksp/ksp/tutorials $(petsc_prefix)/share/petsc/examples/src/ksp/ksp/tutorials))
endif

.PHONY: have-petsc
have-petsc:
ifeq ($(PETSC_PC),)
	@echo "error: no PETSc found through $(petsc_asked)." >&2
	@echo "       Give PETSC_DIR=... (and PETSC_ARCH=... for a build in its source tree), or run: make demo" >&2
	@exit 1
else
	@:
endif
