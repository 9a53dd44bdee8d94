/*
  Options of PCKCYCLE, and those of PCMG or PCGAMG, which levels follow.
*/
#include "kcycleimpl.h"

/* A whole number between two others; false: the text is none */
static PetscBool ParseNumber(const char text[], PetscInt least, PetscInt most, PetscInt *number)
{
  char           *end;
  const long long value = strtoll(text, &end, 10);

  if (end == text || *end || value < least || value > most) return PETSC_FALSE;
  *number = (PetscInt)value;
  return PETSC_TRUE;
}

/* "v", "f", "w", "auto" or a positive whole number */
static PetscErrorCode ParseKappa(PC pc, const char text[], PetscInt *kappa)
{
  const char *const names[] = {"v", "f", "w", "auto"};
  const PetscInt    value[] = {1, 2, PC_KCYCLE_KAPPA_W, PC_KCYCLE_KAPPA_AUTO};
  PetscInt          which;
  PetscBool         found;

  PetscFunctionBegin;
  PetscCall(PetscEListFind(4, names, text, &which, &found));
  if (found) *kappa = value[which];
  PetscCheck(found || ParseNumber(text, 1, 1000000, kappa), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_kappa must be a whole number from 1 on, or v (1), f (2), w (infinity) or auto, not \"%s\"",
             text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* [ascii]:file[:ascii_csv][:append], or a file alone, or nothing: the screen */
static PetscErrorCode ReadViewer(PC pc, char text[], KCycleProfiling *p)
{
  char     *part[4] = {text, NULL, NULL, NULL};
  PetscBool is;
  size_t    n = 1;

  PetscFunctionBegin;
  for (char *c = text; *c && n < 4; c++) {
    if (*c != ':') continue;
    *c        = 0;
    part[n++] = c + 1;
  }
  PetscCall(PetscStrcmp(part[0], "ascii", &is));
  PetscCheck(is || !part[0][0] || n == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "-pc_kcycle_profile is shown by an ASCII viewer, as ascii:file.csv says, not by \"%s\"", part[0]);
  PetscCall(PetscFree(p->file));
  if (n > 1 && part[1][0]) PetscCall(PetscStrallocpy(part[1], &p->file));
  if (n == 1 && !is && part[0][0]) PetscCall(PetscStrallocpy(part[0], &p->file));
  p->csv = p->append = PETSC_FALSE;
  if (p->file) PetscCall(PetscStrendswith(p->file, ".csv", &p->csv));
  for (size_t i = 2; i < n; i++) {
    PetscCall(PetscStrcmp(part[i], "ascii_csv", &is));
    if (is) p->csv = PETSC_TRUE;
    else PetscCall(PetscStrcmp(part[i], "append", &p->append));
    PetscCheck(is || p->append || !part[i][0], PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
               "-pc_kcycle_profile has ascii_csv or append after the name of the file, not \"%s\"", part[i]);
  }
  p->shown = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLimit(PC pc, const char option[], const char what[], PetscInt limit)
{
  PetscFunctionBegin;
  PetscCheck(limit >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "%s is a number of %s, not %" PetscInt_FMT, option, what, limit);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number that is not negative, or a word, which is -1 */
static PetscErrorCode ParseLimit(PC pc, const char option[], const char word[], const char text[], PetscInt *limit)
{
  PetscBool is;

  PetscFunctionBegin;
  *limit = -1;
  PetscCall(PetscStrcasecmp(text, word, &is));
  PetscCheck(is || ParseNumber(text, 0, PETSC_INT_MAX, limit), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "%s is a number of unknowns, or %s, not \"%s\"", option, word, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLimits(PC pc, const char host[], const char tiles[], KCycleLimits *now)
{
  PetscFunctionBegin;
  PetscCall(ParseLimit(pc, "-pc_kcycle_host_below", "auto", host, &now->host_below));
  PetscCall(ParseLimit(pc, "-pc_kcycle_tile_above", "never", tiles, &now->tile_above));
  PetscCall(CheckLimit(pc, "-pc_kcycle_block_below", "unknowns", now->block_below));
  PetscCall(CheckLimit(pc, "-pc_kcycle_matrix_below", "unknowns", now->matrix_below));
  PetscCall(CheckLimit(pc, "-pc_kcycle_overlap_above", "points", now->overlap_above));
  PetscCheck(now->ghost_points >= -1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_kcycle_ghost_points is a number of points, or -1 for none, not %" PetscInt_FMT, now->ghost_points);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where levels come from, and how grids are coarsened */
static PetscErrorCode ReadLevels(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc = KCycleOf(pc);
  PetscEnum  value;
  PetscInt   sizes[4] = {0, 0, 0, 0}, dim = 4, limit;
  PetscBool  flg;
  char       directions[8];

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_kcycle_hierarchy", "Where the levels come from", "PCKCycleSetHierarchy",
                             PCKCycleHierarchyTypes, (PetscEnum)kc->hierarchy, &value, &flg));
  if (flg) PetscCall(PCKCycleSetHierarchy(pc, (PCKCycleHierarchyType)value));
  PetscCall(PetscOptionsEnum("-pc_kcycle_structured", "Structured levels on a DMDA", "PCKCycleSetStructured",
                             PCKCycleStructuredTypes, (PetscEnum)kc->structured, &value, &flg));
  if (flg) PetscCall(PCKCycleSetStructured(pc, (PCKCycleStructuredType)value));
  PetscCall(PetscOptionsEnum("-pc_kcycle_grid", "Where the points of the grid lie", "PCKCycleSetGrid",
                             PCKCycleGridTypes, (PetscEnum)kc->grid, &value, &flg));
  if (flg) PetscCall(PCKCycleSetGrid(pc, (PCKCycleGridType)value));
  PetscCall(PetscOptionsEnum("-pc_kcycle_interpolation", "Interpolation between structured levels",
                             "PCKCycleSetInterpolation", PCKCycleInterpolationTypes, (PetscEnum)kc->interpolation,
                             &value, &flg));
  if (flg) PetscCall(PCKCycleSetInterpolation(pc, (PCKCycleInterpolationType)value));
  PetscCall(PetscStrncpy(directions, kc->semicoarsen, sizeof(directions)));
  PetscCall(PetscOptionsString("-pc_kcycle_semicoarsen", "Directions to coarsen: auto, x, y, z, xy, ...",
                               "PCKCycleSetSemicoarsen", directions, directions, sizeof(directions), &flg));
  if (flg) PetscCall(PCKCycleSetSemicoarsen(pc, directions));
  PetscCall(PetscOptionsEnum("-pc_kcycle_anisotropy", "Lines or planes are relaxed where points do not do",
                             "PCKCycleSetAnisotropy", PCKCycleAnisotropyTypes, (PetscEnum)kc->anisotropy, &value,
                             &flg));
  if (flg) PetscCall(PCKCycleSetAnisotropy(pc, (PCKCycleAnisotropyType)value));
  PetscCall(PetscOptionsInt("-pc_kcycle_process_eq_limit", "Points a process, below which levels are agglomerated",
                            "PCKCycleSetProcEqLim", kc->proc_eq_limit, &limit, &flg));
  if (flg) PetscCall(PCKCycleSetProcEqLim(pc, limit));
  PetscCall(PetscOptionsIntArray("-pc_kcycle_grid_sizes", "Sizes of the grid of a matrix without a DM",
                                 "PCKCycleSetGridSizes", sizes, &dim, &flg));
  if (flg) PetscCall(PCKCycleSetGridSizes(pc, dim, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a cycle is, and what becomes of solves with it */
static PetscErrorCode ReadCycle(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc    = KCycleOf(pc);
  PetscInt   kappa = 2;
  PetscEnum  value;
  PetscReal  factor;
  PetscBool  is, flg;
  char       text[64] = "2";

  PetscFunctionBegin;
  if (kc->automatic.wanted) PetscCall(PetscStrncpy(text, "auto", sizeof(text)));
  else if (kc->kappa == PC_KCYCLE_KAPPA_W) PetscCall(PetscStrncpy(text, "w", sizeof(text)));
  else PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT, kc->kappa));
  PetscCall(
      PetscOptionsString("-pc_kcycle_kappa",
                         "Cycle counter: 1 (v), 2 (f), 3, ..., w, auto; if it is not given 1 on most structured levels",
                         "PCKCycleSetKappa", text, text, sizeof(text), &flg));
  if (flg) {
    PetscCall(ParseKappa(pc, text, &kappa));
    PetscCall(PCKCycleSetKappa(pc, kappa));
  }
  PetscCall(PetscOptionsEnum("-pc_kcycle_precision", "Precision of the cycle", "PCKCycleSetPrecision",
                             PCKCyclePrecisionTypes, (PetscEnum)kc->precision, &value, &flg));
  if (flg) PetscCall(PCKCycleSetPrecision(pc, (PCKCyclePrecisionType)value));
  PetscCall(PetscOptionsReal("-pc_kcycle_overcorrect", "Factor of corrections from coarser levels to the finest one",
                             "PCKCycleSetOvercorrect", kc->overcorrect, &factor, &flg));
  if (flg) PetscCall(PCKCycleSetOvercorrect(pc, factor));
  PetscCall(PetscOptionsEnum("-pc_kcycle_fallback", "BoomerAMG takes the place of cycles that converge too slowly",
                             "PCKCycleSetFallback", PCKCycleFallbackTypes, (PetscEnum)kc->fallback.wanted, &value,
                             &flg));
  if (flg) PetscCall(PCKCycleSetFallback(pc, (PCKCycleFallbackType)value));
  PetscCall(PetscOptionsEnum("-pc_kcycle_fmg_interpolation", "How full multigrid takes a solution to a finer level",
                             "PCKCycleSetFMGInterpolation", PCKCycleFMGInterpolationTypes,
                             (PetscEnum)kc->fmg.interpolation, &value, &flg));
  if (flg) PetscCall(PCKCycleSetFMGInterpolation(pc, (PCKCycleFMGInterpolationType)value));
  PetscCall(PetscOptionsBool("-pc_kcycle_fmg_monitor", "Errors of the levels of full multigrid are shown",
                             "PCKCycleSetFMGMonitor", kc->fmg.monitor, &is, &flg));
  if (flg) PetscCall(PCKCycleSetFMGMonitor(pc, is));
  PetscCall(PetscOptionsBool("-pc_kcycle_check", "A solve that converged by its norm alone is an error",
                             "PCKCycleSetCheck", kc->answer.always, &is, &flg));
  if (flg) PetscCall(PCKCycleSetCheck(pc, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where levels are, and what is done with them there; docs/gpu.md says what the limits mean, which are estimates */
static PetscErrorCode ReadDevice(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle   *kc    = KCycleOf(pc);
  KCycleLimits now   = kc->limits;
  PetscBool    count = kc->count, same, flg;
  PetscEnum    place;
  char         host[64] = "0", tiles[64] = "never";

  PetscFunctionBegin;
  if (now.host_below == KCYCLE_HOST_BELOW_AUTO) PetscCall(PetscStrncpy(host, "auto", sizeof(host)));
  else PetscCall(PetscSNPrintf(host, sizeof(host), "%" PetscInt_FMT, now.host_below));
  if (now.tile_above != KCYCLE_TILE_ABOVE_NEVER)
    PetscCall(PetscSNPrintf(tiles, sizeof(tiles), "%" PetscInt_FMT, now.tile_above));
  PetscCall(PetscOptionsEnum("-pc_kcycle_place", "Where structured levels are", "PCKCycleSetPlace", PCKCyclePlaceTypes,
                             (PetscEnum)kc->place, &place, &flg));
  if (flg) PetscCall(PCKCycleSetPlace(pc, (PCKCyclePlaceType)place));
  PetscCall(PetscOptionsString("-pc_kcycle_host_below", "Levels with fewer unknowns are on the host: a number, or auto",
                               "PCKCYCLE", host, host, sizeof(host), NULL));
  PetscCall(PetscOptionsInt("-pc_kcycle_block_below", "Levels on a device with fewer unknowns share one kernel",
                            "PCKCYCLE", now.block_below, &now.block_below, NULL));
  PetscCall(PetscOptionsInt("-pc_kcycle_matrix_below",
                            "Visits of levels on a device with fewer unknowns are products with matrices", "PCKCYCLE",
                            now.matrix_below, &now.matrix_below, NULL));
  PetscCall(PetscOptionsBool("-pc_kcycle_graph", "Cycles on a device are recorded as CUDA graphs", "PCKCYCLE",
                             kc->graph, &kc->graph, NULL));
  PetscCall(PetscOptionsString("-pc_kcycle_tile_above",
                               "Sweeps on a device are fused from this number of unknowns on, or never", "PCKCYCLE",
                               tiles, tiles, sizeof(tiles), NULL));
  PetscCall(PetscOptionsInt("-pc_kcycle_overlap_above",
                            "Halos of a device are sent while a process computes this many points", "PCKCYCLE",
                            now.overlap_above, &now.overlap_above, NULL));
  PetscCall(PetscOptionsBool("-pc_kcycle_count_bytes",
                             "Count the bytes that each level moves and rounds of messages, for -ksp_view", "PCKCYCLE",
                             count, &count, NULL));
  PetscCall(
      PetscOptionsInt("-pc_kcycle_ghost_points",
                      "Ghost points that a process may have beyond as many as its own, for fused passes; -1: none",
                      "PCKCYCLE", now.ghost_points, &now.ghost_points, NULL));
  PetscCall(CheckLimits(pc, host, tiles, &now));
  PetscCall(PetscMemcmp(&now, &kc->limits, sizeof(now), &same));
  if (same && count == kc->count) PetscFunctionReturn(PETSC_SUCCESS);
  if (now.host_below != kc->limits.host_below) PCKCycleSplitReset(kc);
  kc->limits = now;
  kc->count  = count;
  PetscCall(PCKCycleApplyChoice(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is timed, predicted and shown */
static PetscErrorCode ReadEstimates(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle *kc       = KCycleOf(pc);
  PetscInt   sweeps   = PC_KCYCLE_SWEEPS_AUTO;
  char       text[32] = "usual", profile[PETSC_MAX_PATH_LEN] = "", file[PETSC_MAX_PATH_LEN];
  PetscBool  calibrate, automatic, flg;

  PetscFunctionBegin;
  if (kc->predict.sweeps == PC_KCYCLE_SWEEPS_AUTO) PetscCall(PetscStrncpy(text, "auto", sizeof(text)));
  else if (kc->predict.sweeps) PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT, kc->predict.sweeps));
  PetscCall(PetscOptionsString("-pc_kcycle_sweeps",
                               "Sweeps on the finest structured level on each side: 1, 2, 3, ..., auto",
                               "PCKCycleSetSweeps", text, text, sizeof(text), &flg));
  if (flg) {
    PetscCall(PetscStrcmp(text, "auto", &automatic));
    PetscCheck(automatic || ParseNumber(text, 1, 1000, &sweeps), PetscObjectComm((PetscObject)pc),
               PETSC_ERR_ARG_OUTOFRANGE, "-pc_kcycle_sweeps must be a whole number from 1 to 1000, or auto, not \"%s\"",
               text);
    PetscCall(PCKCycleSetSweeps(pc, sweeps));
  }
  PetscCall(PetscOptionsString("-pc_kcycle_roofline", "File with the roofs of the machine, for predictions",
                               "PCKCycleSetRoofline", kc->predict.file ? kc->predict.file : "", file, sizeof(file),
                               &flg));
  if (flg) PetscCall(PCKCycleSetRoofline(pc, file));
  PetscCall(PetscOptionsBool("-pc_kcycle_calibrate", "Time a few cycles, for predictions", "PCKCycleSetCalibrate",
                             kc->timing.calibrate, &calibrate, &flg));
  if (flg) PetscCall(PCKCycleSetCalibrate(pc, calibrate));
  PetscCall(PetscOptionsString("-pc_kcycle_profile", "Time of each component on each level: ascii:file.csv, or nothing",
                               "PCKCycleSetProfile", profile, profile, sizeof(profile), &flg));
  if (!flg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReadViewer(pc, profile, &kc->profiling));
  PetscCall(PCKCycleSetProfile(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes -pc_mg_levels out of the options, and puts it back */
PetscErrorCode PCKCycleHideLevels(PC pc, PetscBool hide, size_t len, char value[])
{
  PetscOptions options = ((PetscObject)pc)->options;
  const char  *prefix  = ((PetscObject)pc)->prefix;
  PetscBool    given;
  char         name[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%spc_mg_levels", prefix ? prefix : ""));
  if (hide) {
    PetscCall(PetscOptionsGetString(options, NULL, name, value, len, &given));
    if (given) PetscCall(PetscOptionsClearValue(options, name));
    else value[0] = 0;
  } else if (value[0]) {
    PetscCall(PetscOptionsSetValue(options, name, value));
    PetscCall(PetscOptionsHasName(options, NULL, name, &given)); /* so that it counts as used */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options of PCMG or PCGAMG. Where PCGAMG's levels were chosen here a number of levels is no mistake of the user */
static PetscErrorCode SetFromOptionsInherited(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_KCycle     *kc = KCycleOf(pc);
  PetscErrorCode ierr;
  char           levels[64] = "";

  PetscFunctionBegin;
  if (KCYCLE_GAMG_CHOOSES_LEVELS && kc->gamg && kc->hierarchy == PC_KCYCLE_HIERARCHY_AUTO)
    PetscCall(PCKCycleHideLevels(pc, PETSC_TRUE, sizeof(levels), levels));
  ierr = (*kc->base.setfromoptions)(pc, PetscOptionsObject);
  PetscCall(PCKCycleHideLevels(pc, PETSC_FALSE, sizeof(levels), levels));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where set-up has chosen PCGAMG, which is new and reads its options once */
PetscErrorCode PCKCycleReadInherited(PC pc)
{
  PetscFunctionBegin;
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall(SetFromOptionsInherited(pc, PetscOptionsObject));
  PetscOptionsEnd();
  PetscCall(PCKCycleInstall(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those that levels follow which are made later */
static PetscErrorCode NoteOfPCMG(PC pc)
{
  PetscObject o  = (PetscObject)pc;
  PC_KCycle  *kc = KCycleOf(pc);

  PetscFunctionBegin;
  kc->options_used = PETSC_TRUE;
  PetscCall(PetscOptionsHasName(o->options, o->prefix, "-pc_mg_galerkin", &kc->galerkin_set));
  PetscCall(PetscOptionsGetInt(o->options, o->prefix, "-pc_mg_levels", &kc->nlevels_option, NULL));
  PetscCall(PetscOptionsGetBool(o->options, o->prefix, "-pc_mg_distinct_smoothup", &kc->distinct, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_KCycle(PC pc, KCycleOptionItems PetscOptionsObject)
{
  PC_MG     *mg;
  PC_KCycle *kc = KCycleOf(pc);
  PetscBool  flg, ours;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Kappa-cycle multigrid options");
  PetscCall(ReadLevels(pc, PetscOptionsObject));
  PetscCall(ReadCycle(pc, PetscOptionsObject));
  PetscCall(ReadDevice(pc, PetscOptionsObject));
  PetscCall(ReadEstimates(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  mg = (PC_MG *)pc->data;
  PetscCall(PCKCycleSolversNotice(pc));
  PetscCall(NoteOfPCMG(pc));
  if (!kc->ready && !kc->busy) PetscCall(PCKCycleChooseLevels(pc, PETSC_FALSE));
  ours        = (PetscBool)(!mg->levels || mg->nlevels == kc->nlevels_chosen);
  kc->reading = PETSC_TRUE;
  PetscCall(SetFromOptionsInherited(pc, PetscOptionsObject));
  kc->reading                = PETSC_FALSE;
  mg->usedmfornumberoflevels = PETSC_FALSE; /* their number is chosen here */
  kc->galerkin_none          = (PetscBool)(kc->galerkin_set && mg->galerkin == PC_MG_GALERKIN_NONE);
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_mg_levels", &flg));
  if (ours && !flg) kc->nlevels_chosen = mg->nlevels; /* PCMG's single level, until the grid is known */
  PetscCall(PCKCycleInstall(pc));
  PetscCall(PCKCycleRefuseChanges(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
