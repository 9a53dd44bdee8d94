/*
  Numbers of the cells of a grid, from a file to the processes of a DMDA: see reservoir.c.

  The first process reads a file in pieces and sends them on, so that no process holds more than its part and a piece.
  Cells are in the file with x fastest, then y, then z. Formats:

    grdecl   keywords of Eclipse and others, each with its numbers up to a slash: PERMX, PERMY, PERMZ, ACTNUM, PORO;
             sizes of the cells as DXV, DYV, DZV (one number for a column, row, layer) or DX, DY, DZ (one for each
             cell); DIMENS or SPECGRID. 100*3.5 is 100 times 3.5, -- begins a comment.
    text     permeabilities alone: a number for each cell, or all of those in x, then in y, then in z; # and -- begin
             a comment
    binary   the same as numbers of 8 bytes, in the order of bytes of this machine, with nothing before or between them

  What is wrong in a file is an error on all processes that names the file, the line and the keyword.
*/
#pragma once

#include <petscdmda.h>

typedef enum {
  FORMAT_AUTO, /* from the end of the name: .grdecl, .txt or .dat, .bin */
  FORMAT_GRDECL,
  FORMAT_TEXT,
  FORMAT_BINARY
} FieldFormat;

PETSC_EXTERN const char *const FieldFormats[];

typedef enum {
  FIELD_PERMX,
  FIELD_PERMY,
  FIELD_PERMZ,
  FIELD_PORO,
  FIELD_ACTNUM,
  FIELDS
} Field;

typedef struct _FieldFile *FieldFile;

/* ignored: keywords that are skipped with their numbers; kept by the caller, as name is */
PETSC_EXTERN PetscErrorCode FieldFileOpen(MPI_Comm comm, const char name[], FieldFormat format, PetscInt nignored,
                                          char *ignored[], FieldFile *file);

/* Sizes of the grid, from DIMENS or SPECGRID; found is false if the file has neither */
PETSC_EXTERN PetscErrorCode FieldFileGetSizes(FieldFile file, PetscInt n[3], PetscBool *found);

/* All fields as global vectors of the DMDA, NULL if not in the file; likewise the sizes of cells, arrays of as many
   numbers as there are cells in that direction. The caller destroys them */
PETSC_EXTERN PetscErrorCode FieldFileRead(FieldFile file, DM da, Vec fields[FIELDS], PetscReal *widths[3]);
PETSC_EXTERN PetscErrorCode FieldFileClose(FieldFile *file);
