# petsc-kcycle: a PETSc plugin. See README.md.
#
#   make                  the library                        make -s print-library   its path
#   make OPENMP=1         the same with threads: OMP_NUM_THREADS share the lines of structured grids
#   make FFTW=0           the same without FFTW, and so without PCFASTPOISSON
#   make demo             set up, build, compare on PETSc's tutorials, one table and one picture
#   make compare APP="./app -its -options"   which solver? Your program, MATRIX=file [RHS=file] [GRID=nx,ny,nz] or PROBLEM=name with each of bench/solvers.py; PROCS=4, BENCH=--help
#   make bench            the tables of README and docs that compare solvers: hours; BENCH="--parts solvers --publish", BENCH=--help
#   make bench-kappa      the tables and figures of the kappa-cycle's paper beside ours: a quarter of an hour
#   make roofline         the roofs of this machine in a file, for -pc_kcycle_roofline: a minute; PROCS=4: with so many processes
#   make bench-poisson    fast Poisson solvers: the tables and figures of two papers beside ours: a quarter of an hour
#   make bench-scaling  messages of cycles, counted and modelled: what an iteration takes on up to 10^5 processes: minutes
#   make bench-dpcg       deflated CG: the numbers of Gupta's thesis beside ours, and tables of our own
#   make check            the whole test-suite; last line: N passed, N failed, N skipped
#   make lint             layout, names, manual pages, options, messages
#   make docs             the manual pages in docs/manual; fails when a page quotes a number that its CSV file in bench/results does not hold
#   make compilers        are the sources free of warnings with clang, g++ as C++11, and nvcc, too? CUDA_ARCHS="sm_75 sm_90" chooses its architectures
#   make registers        do the kernels of the library that is built have enough registers?
#   make hip              do the kernels compile with hipcc, and the sources with PETSc's headers for HIP? Nothing is linked; HIP_ARCHS="gfx90a" chooses architectures
#   make releases         do the sources compile with the headers of releases of PETSc that no test runs with? VERSIONS="3.19.6 3.25.6" chooses them
#   make install PREFIX=  library, header, pkg-config file, Python module
#   make petsc-latest     builds the newest PETSc with CUDA, once, in a cache folder
#   make petsc-kokkos     the same for a PETSc with Kokkos
#   make clean
#
# PETSC_DIR and PETSC_ARCH choose the PETSc; without them pkg-config does.

.DEFAULT_GOAL := all
top := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
include $(top)/conf/petsc.mk

version := $(shell cat $(top)/VERSION.txt)
PREFIX  ?= /usr/local
export override OPENMP := $(filter-out 0 no,$(OPENMP))
# FFTW in double precision, for PCFASTPOISSON, where pkg-config knows it
fftw    := $(if $(filter 0 no,$(FFTW)),,$(shell pkg-config --exists fftw3 2> /dev/null && echo fftw3))
B       := $(top)/build/petsc-$(petsc_version)-$(firstword $(shell echo '$(petsc_prefix) $(SANITIZE)$(if $(OPENMP), openmp)$(if $(fftw),, nofftw)' | cksum))
LIBRARY := $(B)/lib/libpetsckcycle.so

CC        := $(if $(PETSC_PC),$(or $(call petsc_var,ccompiler),mpicc),mpicc)
# -g1: lines of the source for those who look for errors; for variables, OPTFLAGS="-O0 -g"
OPTFLAGS  ?= -O3 -g1
# CI makes warnings errors: make WERROR=1
WERROR    ?=
WARNFLAGS ?= -Wall -Wextra $(if $(WERROR),-Werror)
nvcc      := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
hipcc     := $(firstword $(shell command -v hipcc) $(wildcard /opt/rocm/bin/hipcc))
# Kernels for devices, where PETSc has CUDA or HIP and real numbers, and their compiler is here
# PETSc before 3.20 does not tell its stream
device    := $(if $(filter-out 3.18.% 3.19.%,$(petsc_version)),$(shell echo '#include <petscconf.h>' | $(CC) $(shell pkg-config --cflags-only-I $(PETSC_PC)) -E -dM -x c - 2> /dev/null | \
             awk '/ PETSC_HAVE_CUDA 1/ { has = "cuda" } / PETSC_HAVE_HIP 1/ { has = "hip" } / PETSC_USE_(COMPLEX|REAL___FLOAT128|REAL___FP16) 1/ { not = 1 } END { if (!not) print has }'))
cuda      := $(if $(nvcc),$(filter cuda,$(device)))
hip       := $(if $(hipcc),$(filter hip,$(device)))
# For PCFASTPOISSON, where PETSc is linked with it
cufft     := $(if $(cuda),$(if $(fftw),$(filter -lcufft,$(call petsc_var,cudalib))))
# What pkg-config does not know
conf_var   = $(shell sed -n 's/^$(1) *= *//p' $(petsc_prefix)/lib/petsc/conf/petscvariables)
hip_var    = $(if $(hip),$(call conf_var,$(1)))
# These take minutes to compile, and where addresses are sanitized most of what they find is found anyway
per_pointer = object-size,pointer-overflow
sanitized  = $(if $(SANITIZE),-fsanitize=$(SANITIZE) $(if $(findstring address,$(SANITIZE)),-fno-sanitize=$(per_pointer)) -fno-omit-frame-pointer)
CFLAGS_KC  = -std=gnu99 -fPIC -fvisibility=hidden $(OPTFLAGS) $(WARNFLAGS) $(sanitized) $(if $(OPENMP),-fopenmp)
CPPFLAGS_KC = -I$(top)/include $(if $(PETSC_PC),$(shell pkg-config --cflags $(PETSC_PC) | sed 's/-I/-isystem /g')) $(call petsc_var,cudainclude) $(call hip_var,HIP_INCLUDE) -DPETSCKCYCLE_VERSION='"$(version)"' $(if $(cuda)$(hip),-DKCYCLE_HAVE_CUDA) $(if $(hip),-DKCYCLE_HAVE_HIP) $(if $(fftw),$(if $(cufft),-DKCYCLE_HAVE_CUFFT) -DKCYCLE_HAVE_FFTW $(shell pkg-config --cflags $(fftw)))
# As PETSc's own; pragmas for the device are unknown to the compiler of the host
CUDAFLAGS_KC = $(call petsc_var,cudaflags_extra) $(if $(WERROR),-Werror all-warnings -Xcompiler=-Werror) -Xcompiler -Wall,-Wextra,-Wno-unknown-pragmas,-Wno-unused-function
# Kernels have real numbers, and thrust, which PETSc takes complex ones from, need not be there. Blocks have so many threads, but for those of kernels that say it
HIPFLAGS_KC = $(call hip_var,HIPC_FLAGS) --gpu-max-threads-per-block=256 -fPIC $(WARNFLAGS) -Wno-unused-function -DPETSC_SKIP_COMPLEX
# CCACHE=ccache: kernels for devices are compiled through it; for the others there is OMPI_CC="ccache gcc"
CCACHE ?=
compile_device = $(if $(hip),$(hipcc) -x hip $(HIPFLAGS_KC),$(CCACHE) $(nvcc) $(CUDAFLAGS_KC) -Xptxas -v)
# What nvcc says of registers, for "make registers"
keep_registers = $(if $(hip),,2> $(@:.o=.registers) || { cat $(@:.o=.registers); false; })
# What FFTW is linked with; the loader knows the system's folders
fftw_libs = $(if $(fftw),$(shell pkg-config --libs $(fftw)) $(patsubst %,-Wl$(comma)-rpath$(comma)%,$(filter-out /usr/lib% /lib%,$(shell pkg-config --variable=libdir $(fftw)))))
comma    := ,
# -z nodelete: PETSc unloads plugins before it frees communicators; -z now: a missing symbol is an error at load, not in mid-solve
LDFLAGS_KC = -shared -Wl,-soname,libpetsckcycle.so -Wl,-z,nodelete -Wl,-z,now -Wl,--no-undefined \
             $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(if $(OPENMP),-fopenmp) \
             -Wl,-rpath,$(call petsc_var,libdir) $(shell pkg-config --libs $(PETSC_PC)) $(call conf_var,BLASLAPACK_LIB) $(fftw_libs) $(if $(cuda),$(filter -L% -Wl%,$(call petsc_var,cudalib)) $(if $(cufft),-lcufft -lcublas) -lcudart -lstdc++) $(if $(hip),$(filter -L% -Wl%,$(call hip_var,HIP_LIB)) -lamdhip64 -lstdc++) -lm

sources := $(sort $(wildcard $(top)/src/*.c $(top)/src/*/*.c $(top)/src/*/*/*.c $(top)/src/*/*/*/*.c))
# What is there with a device alone
for_devices := $(wildcard $(top)/src/level/device/*.c)
sources := $(if $(cuda)$(hip),$(sources),$(filter-out $(for_devices),$(sources)))
# Kernels and levels once more, in single precision
singles := $(filter $(top)/src/kernel/% $(top)/src/level/%,$(sources))
cudas   := $(if $(cuda)$(hip),$(sort $(wildcard $(top)/src/kernel/cuda/*.cu)))
single_objects := $(singles:$(top)/%.c=$(B)/single/%.o) $(cudas:$(top)/%.cu=$(B)/single/%.o)
objects := $(sources:$(top)/%.c=$(B)/%.o) $(cudas:$(top)/%.cu=$(B)/%.o) $(B)/single.o

# V=1 shows whole command lines
run = $(if $(V),$(2),@echo "  $(1) $(@:$(B)/%=%)"; $(2))

-include $(top)/conf/install.mk

.PHONY: all bench compare bench-dpcg bench-kappa bench-scaling check compilers registers hip docs demo demo-run lint install clean petsc-latest petsc-kokkos releases print-library print-petsc roofline bench-poisson
all: $(LIBRARY)

$(LIBRARY): $(objects)
	@mkdir -p $(@D)
	$(call run,LINK,$(CC) $(CFLAGS_KC) -o $@ $^ $(LDFLAGS_KC))

$(B)/single.o: $(single_objects) $(top)/conf/single.sh
	$(call run,LINK,sh $(top)/conf/single.sh $@ $(single_objects))

$(B)/%.o: $(top)/%.c $(top)/makefile $(top)/VERSION.txt | have-petsc
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(CFLAGS_KC) $(CPPFLAGS_KC) -MMD -MP -MT $@ -c $< -o $@)

$(B)/single/%.o: $(top)/%.c $(top)/makefile $(top)/VERSION.txt | have-petsc
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(CFLAGS_KC) -DKCYCLE_SINGLE $(CPPFLAGS_KC) -MMD -MP -MT $@ -c $< -o $@)

$(B)/%.o: $(top)/%.cu $(top)/makefile $(top)/VERSION.txt | have-petsc
	@mkdir -p $(@D)
	$(call run,DEVICE,$(compile_device) $(CPPFLAGS_KC) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@ $(keep_registers))

$(B)/single/%.o: $(top)/%.cu $(top)/makefile $(top)/VERSION.txt | have-petsc
	@mkdir -p $(@D)
	$(call run,DEVICE,$(compile_device) -DKCYCLE_SINGLE $(CPPFLAGS_KC) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@ $(keep_registers))

-include $(objects:.o=.d) $(single_objects:.o=.d)

print-library: | have-petsc
	@echo $(LIBRARY)

# For scripts: the PETSc in use, one NAME=value a line
print-petsc: | have-petsc
	@echo "library=$(LIBRARY)"
	@echo "build=$(B)"
	@echo "version=$(petsc_version)"
	@echo "conf_dir=$(petsc_conf_dir)"
	@echo "conf_arch=$(petsc_conf_arch)"
	@echo "harness=$(petsc_harness)"
	@echo "tutorials=$(petsc_tutorials)"
	@echo "libdir=$(call petsc_var,libdir)"
	@echo "python=$(PYTHON)"
	@echo "sanitized=$(sanitized)"
	@echo "features=$$(echo '#include <petsckcycle/private/compat.h>' | $(CC) $(CPPFLAGS_KC) -E -dM -x c - | sed -n 's/^.define \(KCYCLE_HAVE_[A-Z_]*\) .*/\1/p' | xargs) $(if $(OPENMP),KCYCLE_HAVE_OPENMP)"
	@echo "mpiexec=$(or $(call petsc_var,mpiexec),mpiexec)"

# The system's python3: that is the one the package python3-matplotlib serves
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

# Installs, then starts make afresh: only now can pkg-config answer
demo:
	@sh $(top)/conf/install-deps.sh build demo
	@$(MAKE) --no-print-directory -C $(top) demo-run

demo-run: all
	@$(PYTHON) -B $(top)/bench/tables.py --parts demo $(DEMO)

bench: all
	@$(PYTHON) -B $(top)/bench/tables.py $(BENCH)

# The shell has what the command line of make has set: words with quotes and spaces stay what they are
compare: all
	@$(PYTHON) -B $(top)/bench/$(if $(PAPER),paper,compare).py $(if $(APP),--app "$$APP") $(if $(MATRIX),--matrix "$$MATRIX") $(if $(RHS),--rhs "$$RHS") $(if $(GRID),--grid "$$GRID") \
	  $(if $(PROBLEM),--problem="$$PROBLEM") $(if $(PROCS),--procs $(PROCS)) $(BENCH)

bench-dpcg bench-kappa bench-poisson bench-scaling: bench-%: all
	@$(PYTHON) -B $(top)/bench/$*.py $(BENCH)

roofline: all
	@$(PYTHON) -B $(top)/bench/roofline.py $(if $(PROCS),--procs $(PROCS)) $(BENCH)

lint:
	@sh $(top)/conf/install-deps.sh lint
	@python3 $(top)/conf/lint.py $(if $(FIX),--fix)

docs:
	@python3 -B $(top)/conf/docs.py

# Not asked of anyone: initial values for all fields, as C has zeros for the rest
# Those that this nvcc still has, and its oldest one
CUDA_ARCHS     ?= $(shell $(nvcc) --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$$/\1/p' | sort -n | awk 'NR == 1 || /^(70|80|90|100)$$/ { print "sm_" $$0 }')
not_for_devices = $(shell echo '\#include <petscconf.h>' | $(CC) $(petsc_includes) -E -dM -x c - | grep -E ' PETSC_USE_(COMPLEX|REAL___FLOAT128|REAL___FP16) 1')
petsc_includes  = $(if $(PETSC_PC),$(shell pkg-config --cflags-only-I $(PETSC_PC)))
examples_and_tests := $(sort $(wildcard $(top)/tests/*.c $(top)/examples/tutorials/*.c))
compilers hip: WERROR = 1
compilers: | have-petsc
	@sh $(top)/conf/install-deps.sh lint
	@compile() { \
	  echo "  $$1"; export OMPI_CC="$$1" MPICH_CC="$$1"; shift; \
	  printf '%s\n' "$$@" | xargs -P $$(nproc) -n 8 $(CC) -c -fsyntax-only $(WARNFLAGS) -Wno-missing-field-initializers $(CPPFLAGS_KC); \
	}; \
	compile "clang -std=gnu99" $(sources) $(examples_and_tests) && compile "g++ -x c++ -std=gnu++11" $(sources)
	@echo "  kernels in single precision, and with nvcc if there is one"
	@printf '%s\n' $(singles) | xargs -P $$(nproc) -n 8 $(CC) -std=gnu99 -fsyntax-only -DKCYCLE_SINGLE $(WARNFLAGS) $(CPPFLAGS_KC)
	@test -z "$(nvcc)" || for single in "" -DKCYCLE_SINGLE; do \
	  printf '%s\n' $(wildcard $(top)/src/kernel/*.c) | xargs -P $$(nproc) -n 1 $(nvcc) -x cu -Werror all-warnings $$single -I$(top)/include $(petsc_includes) -o /dev/null -c || exit 1; \
	done
	@test -z "$(nvcc)" -o -n "$(not_for_devices)" -o -z "$(strip $(CUDA_ARCHS))" || { echo "  kernels for devices, their registers"; \
	  $(PYTHON) -B $(top)/conf/spills.py $(nvcc) $(CUDA_ARCHS) -- -std=c++17 -O3 -ccbin mpicxx -Werror all-warnings -I$(top)/include $(petsc_includes); }

registers: all
	@$(PYTHON) -B $(top)/conf/spills.py --built $(B)

# No PETSc with HIP is at hand: tests/hip makes the one in use look like one
HIP_ARCHS   ?= gfx908 gfx90a gfx1030
hip_includes = -DKCYCLE_HAVE_CUDA -DKCYCLE_HAVE_HIP -I$(top)/include -isystem $(top)/tests/hip $(petsc_includes:-I%=-isystem %)
hip: | have-petsc
	@sh $(top)/conf/install-deps.sh hip
	@test -z "$(filter 3.18.% 3.19.%,$(petsc_version))" -a -z "$(not_for_devices)" || { echo "make hip is for real numbers and PETSc 3.20 or newer" >&2; exit 1; }
	@echo "  kernels with hipcc, their registers"
	@$(PYTHON) -B $(top)/conf/spills.py $(or $(hipcc),hipcc) $(HIP_ARCHS) -- -std=c++17 -O3 $(HIPFLAGS_KC) $(hip_includes)
	@echo "  sources with HIP's headers"
	@printf '%s\n' $(sort $(sources) $(for_devices)) | xargs -P $$(nproc) -n 8 $(CC) -std=gnu99 -fsyntax-only $(WARNFLAGS) -DPETSCKCYCLE_VERSION='""' $(hip_includes)
	@printf '%s\n' $(sort $(singles) $(for_devices)) | xargs -P $$(nproc) -n 8 $(CC) -std=gnu99 -fsyntax-only $(WARNFLAGS) -DKCYCLE_SINGLE $(hip_includes)

petsc-latest:
	@sh $(top)/conf/petsc-build.sh latest

releases:
	@sh $(top)/conf/compile-versions.sh $(VERSIONS)

petsc-kokkos:
	@sh $(top)/conf/petsc-build.sh kokkos

clean:
	$(RM) -r $(top)/build
