/*
  Functions that the files of PCKCYCLE have for each other.
*/
#pragma once

/* Makes the next level from one, if that is coarsened further, or renews its values; asked: coarse grids may be small.
   Levels that exist keep their grids: changed is true, and nothing is done, where others would suit the values */
typedef PetscErrorCode KCycleCoarsen(PC, KCycleGridLevel *, PetscBool asked, PetscBool exists, PetscBool *coarser,
                                     PetscBool *changed);

/* kcycle.c */
PETSC_INTERN PC_KCycle     *KCycleOf(PC);
PETSC_INTERN PetscErrorCode PCKCycleGetContext(PC, PC_KCycle **);
PETSC_INTERN PetscErrorCode KCycleCheckSettable(PC, PetscBool same, const char setter[]);
PETSC_INTERN PetscErrorCode PCKCycleApplyChoice(PC);
PETSC_INTERN PetscErrorCode KCycleObjectCompose(PetscObject, const char name[], void *data,
                                                PetscErrorCode (*destroy)(KCycleCtxDestroyArg));
PETSC_INTERN PetscErrorCode PCKCycleInstall(PC);
PETSC_INTERN PetscErrorCode PCKCycleInherit(PC, PetscBool);

/* options.c */
PETSC_INTERN PetscErrorCode PCSetFromOptions_KCycle(PC, KCycleOptionItems);
PETSC_INTERN PetscErrorCode PCKCycleReadInherited(PC);
PETSC_INTERN PetscErrorCode PCKCycleHideLevels(PC, PetscBool, size_t, char[]);

/* view.c */
PETSC_INTERN PetscErrorCode KCycleMatSize(Mat, PetscLogDouble *entries, PetscLogDouble *bytes);
PETSC_INTERN PetscErrorCode PCView_KCycle(PC, PetscViewer);

/* setup.c */
PETSC_INTERN PetscErrorCode PCSetUp_KCycle(PC);
PETSC_INTERN PetscErrorCode PCKCycleFinishLevels(PC);
PETSC_INTERN PetscBool      KCycleMakesOperators(const PC_KCycle *);

/* hierarchy.c */
PETSC_INTERN PetscErrorCode PCKCycleFindGrid(PC);
PETSC_INTERN PetscErrorCode PCKCycleResolveHierarchy(PC);
PETSC_INTERN PetscErrorCode PCKCycleChooseLevels(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCKCycleChooseInstead(PC);
PETSC_INTERN PetscErrorCode PCKCycleRefuseMeaningless(PC);
PETSC_INTERN PetscErrorCode PCKCycleSetUpLevels(PC);
PETSC_INTERN PetscErrorCode PCKCycleReplaceLevels(PC, PetscInt, MPI_Comm *);
PETSC_INTERN PetscBool      KCycleLevelsAreTheirs(const PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleLevelsAsked(PC, PetscInt *);
PETSC_INTERN PetscErrorCode PCKCycleLevelsWanted(PC, PetscInt *);
PETSC_INTERN PetscErrorCode PCKCycleUseLevels(PC, PetscInt, PetscInt);

/* gamg.c */
PETSC_INTERN PetscErrorCode PCSetCoordinates_KCycle(PC, PetscInt, PetscInt, PetscReal[]);
PETSC_INTERN PetscErrorCode PCKCycleCoarseBeforeGAMG(PC);
PETSC_INTERN PetscErrorCode PCKCycleCoarseAfterGAMG(PC);
PETSC_INTERN PetscErrorCode PCKCycleCoordinatesReset(PC_KCycle *);

/* copy.c */
PETSC_INTERN PetscErrorCode KCycleMatToAIJ(Mat, Mat *);
PETSC_INTERN PetscErrorCode PCKCycleCopyInstall(PC);
PETSC_INTERN PetscErrorCode PCKCycleCopyBlocks(PC);
PETSC_INTERN PetscErrorCode PCKCycleCopyRemove(PC);

/* fits.c */
PETSC_INTERN PetscErrorCode PCKCycleCheckGrid(PC);
PETSC_INTERN PetscErrorCode PCKCycleCheckRatio(PC, size_t, char[]);
PETSC_INTERN PetscErrorCode PCKCycleCheckCoarse(PC, size_t, char[]);

/* findgrid.c */
PETSC_INTERN PetscErrorCode PCKCycleFoundGetDM(PC, DM *);
PETSC_INTERN PetscErrorCode PCKCycleFoundCheckSizes(PC, DM);
PETSC_INTERN PetscErrorCode PCKCycleFoundSettle(PC);
PETSC_INTERN PetscErrorCode PCKCycleFoundReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleFoundView(PC, PetscViewer);

/* ghostrows.c */
PETSC_INTERN PetscErrorCode PCKCycleGhostRowsCreate(Mat, DM, KCycleFound *);
PETSC_INTERN PetscErrorCode PCKCycleGhostRowsSetOperator(const PC_KCycle *, KSP);
PETSC_INTERN PetscErrorCode PCKCycleGhostRowsGetVectors(const PC_KCycle *, Vec, Vec, PetscBool, Vec *);
PETSC_INTERN PetscErrorCode PCKCycleGhostRowsRestoreVectors(const PC_KCycle *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCKCycleGhostRowsGetOperator(PC, Mat *);

/* operator.c */
PETSC_INTERN PetscErrorCode PCKCycleGetNullSpace(PC, MatNullSpace *);
PETSC_INTERN PetscErrorCode PCKCycleCheckOperator(PC);

/* kernel.c */
PETSC_INTERN PetscErrorCode KCycleVecOrthonormalize(PetscInt n, const Vec basis[], Vec);
PETSC_INTERN PetscErrorCode PCKCycleCoarseUseConstants(PC, Mat);
PETSC_INTERN PetscErrorCode PCKCycleClosedFind(PC, KCycleClosed *);
PETSC_INTERN PetscErrorCode PCKCycleCoarseUseParts(PC, Mat, PetscBool *);
PETSC_INTERN PetscErrorCode PCKCycleCountKernel(PC, PetscInt *nullity);
PETSC_INTERN PetscErrorCode PCKCycleCoarseFindKernel(PC, PC, Mat);

/* closed.c */
PETSC_INTERN PetscErrorCode KCycleClosedFind(Mat, PetscReal, KCycleClosed *);
PETSC_INTERN PetscErrorCode KCycleClosedDestroy(KCycleClosed *);
PETSC_INTERN PetscErrorCode KCycleClosedKernel(const KCycleClosed *, const PetscScalar[], MatNullSpace *);
PETSC_INTERN PetscErrorCode PCKCyclePinEmptyRows(PC);
PETSC_INTERN PetscErrorCode KCycleStructurePinClosed(const PC_KCycle *, KCycleGridLevel *);

/* rightside.c */
PETSC_INTERN PetscErrorCode PCKCycleFindClosed(PC);
PETSC_INTERN PetscErrorCode PCKCycleBalance(PC);
PETSC_INTERN PetscErrorCode PCKCycleBalanceUndo(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleBalanceReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleGetWork(PC_KCycle *, Vec, Vec *);
PETSC_INTERN PetscErrorCode PCKCyclePrepare(PC_KCycle *, PetscBool transpose, Vec *);
PETSC_INTERN PetscErrorCode PCKCycleFinish(PC_KCycle *, PetscBool transpose, Vec);
PETSC_INTERN PetscErrorCode PCKCycleCheckRightSide(PC, KSP, Vec);
PETSC_INTERN PetscErrorCode PCKCycleExplainRightSide(PC, KSP);

/* structured.c */
PETSC_INTERN PetscErrorCode PCKCycleGridsReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleBuildLevels(PC, PetscInt most, KCycleCoarsen *);
PETSC_INTERN PetscErrorCode PCKCycleStructuredChoose(PC);
PETSC_INTERN PetscErrorCode PCKCycleStructuredSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleLevelsReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleLevelsDrop(PC);
PETSC_INTERN PetscErrorCode PCKCycleMakeOperators(PC);

/* coarsen.c */
PETSC_INTERN PetscErrorCode KCycleStructureCoarsen(PC, KCycleGridLevel *, PetscBool, PetscBool, PetscBool *,
                                                   PetscBool *);
PETSC_INTERN PetscErrorCode KCycleStructureCheckAssembled(PC, size_t, char[]);

/* assemble.c */
PETSC_INTERN PetscErrorCode KCycleAssembleOnDM(const KCycleGridLevel *);
PETSC_INTERN PetscErrorCode KCycleAssemble(PC, KCycleGridLevel *);

/* levelsmoothers.c */
PETSC_INTERN PetscErrorCode PCKCycleNumberSolver(PC, KSP, PetscInt number, PetscBool theirs);
PETSC_INTERN PetscErrorCode PCKCycleSetSmoothers(PC, PetscInt l);
PETSC_INTERN PetscInt       KCycleCoarseningRatio(const PC_KCycle *, PetscInt l);
PETSC_INTERN PetscErrorCode PCKCycleRenewSweeps(PC);
PETSC_INTERN PetscErrorCode PCKCycleSmoothersAreDistinct(PC, PetscBool *);

/* gather.c */
PETSC_INTERN PetscErrorCode PCKCycleFixLevels(PC);
PETSC_INTERN PetscErrorCode PCKCycleMayGather(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCKCycleGather(PC);
PETSC_INTERN PetscErrorCode PCKCycleGatheredSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleGatheredFollow(PC);
PETSC_INTERN void           PCKCycleGatheredForget(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleGatheredVisit(PC, const KCycleVisit *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCKCycleGatheredIterate(PC, const KCycleStop *, PetscBool zeroguess, Vec, Vec, PetscInt *,
                                                    PCRichardsonConvergedReason *);

/* aijlevels.c */
PETSC_INTERN PetscErrorCode PCKCycleGridsChoose(PC);
PETSC_INTERN PetscErrorCode PCKCycleGridsSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleGridsView(PC, PetscViewer);

/* unknowns.c */
PETSC_INTERN PetscErrorCode PCKCycleUnknownsWhyNot(PC, size_t, char[]);
PETSC_INTERN PetscErrorCode PCKCycleUnknownsInstall(PC, KSP);
PETSC_INTERN PetscErrorCode PCKCycleUnknownsRemove(PC, KSP);
PETSC_INTERN PetscErrorCode PCKCycleUnknownsFollow(PC);
PETSC_INTERN PetscErrorCode PCKCycleOperatorChanged(PC, PetscInt dof, Vec *image, PetscBool *);
PETSC_INTERN PetscErrorCode PCKCycleUnknownsJudge(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCKCycleUnknownsView(PC, PetscViewer);

/* smoothers.c */
PETSC_INTERN PetscErrorCode KCycleMatHasZeroDiagonal(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleLevelFactor(PC_MG_Levels *, const KCycleChoice[], PetscBool *);
PETSC_INTERN PetscErrorCode PCKCycleSORAddTranspose(PC);
PETSC_INTERN PetscErrorCode KCycleKSPOnlySweeps(KSP, PetscBool *);
PETSC_INTERN PetscErrorCode KCycleKSPDelayWork(KSP);

/* kappa.c */
PETSC_INTERN void           PCKCycleChooseKappa(PC_KCycle *, const char planes[]);
PETSC_INTERN PetscErrorCode PCKCycleFollowKappa(PC);
PETSC_INTERN PetscReal      PCKCycleOvercorrectFactor(const PC_KCycle *, PetscInt);

/* autokappa.c */
PETSC_INTERN PetscErrorCode PCKCycleAutoReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleFillWithNoise(PC, Vec);
PETSC_INTERN PetscErrorCode PCKCycleGetKernel(PC, MatNullSpace *);
PETSC_INTERN PetscErrorCode PCKCycleAutoSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleAutoUse(PC, KSP);
PETSC_INTERN PetscErrorCode PCKCycleAutoView(PC, PetscViewer);

/* apply.c */
PETSC_INTERN KCycleVisit    KCycleApplication(PC, PetscInt kappa, PetscBool transpose);
PETSC_INTERN PetscErrorCode PCKCycleTestNorm(PC, PetscReal norm, const KCycleStop *, PCRichardsonConvergedReason *);
PETSC_INTERN PetscErrorCode PCKCycleVisit(PC, const KCycleVisit *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApply_KCycle(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyTranspose_KCycle(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyInherited_KCycle(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCApplyTransposeInherited_KCycle(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCMatApply_KCycle(PC, Mat, Mat);
PETSC_INTERN PetscErrorCode PCApplyRichardson_KCycle(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt,
                                                     PetscBool, PetscInt *, PCRichardsonConvergedReason *);

/* fmg.c */
PETSC_INTERN PetscErrorCode PCKCycleFMGSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleFMGReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleFMGStart(const PC_KCycle *, PetscInt, Vec coarse, Vec x);
PETSC_INTERN PetscErrorCode KCycleStructureBalanceRows(const KCycleGridLevel *);
PETSC_INTERN PetscErrorCode PCKCycleFMGUseRhs(PC_KCycle *, PetscBool);

/* fmgmonitor.c */
PETSC_INTERN PetscErrorCode PCKCycleFMGWatch(PC, KCycleRun *);
PETSC_INTERN PetscErrorCode PCKCycleFMGSee(PC, PetscInt, int stage, PetscScalar *);

/* engine.c */
PETSC_INTERN PetscErrorCode PCKCycleEngineSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleEngineReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleEngineSettle(PC);
PETSC_INTERN PetscErrorCode PCKCycleEngineIsUsed(PC, PetscBool transpose, PetscBool *);

/* precision.c */
PETSC_INTERN PetscErrorCode PCKCyclePrecisionFollow(PC, KSP);
PETSC_INTERN PetscErrorCode PCKCycleChoosePrecision(PC, const KCycleScan *, PetscBool *single);
PETSC_INTERN PetscErrorCode KCycleOperatorsAreSymmetric(PC_KCycle *, PetscBool *);

/* ghosts.c */
PETSC_INTERN PetscErrorCode PCKCycleGhostsSetUp(PC);

/* run.c */
PETSC_INTERN PetscErrorCode PCKCycleSolveCoarsest(PC, const KCycleVisit *, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode PCKCycleEngineApply(PC, const KCycleVisit *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCKCycleEngineApplyCopy(PC, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode PCKCycleEngineIterate(PC, const KCycleStop *, PetscBool zeroguess, Vec, Vec, PetscInt *,
                                                  PCRichardsonConvergedReason *);

/* device.c */
PETSC_INTERN PetscErrorCode PCKCyclePlaceChoose(PC);
PETSC_INTERN PetscErrorCode PCKCyclePlaceFollow(PC);
PETSC_INTERN PetscErrorCode PCKCyclePlaceCreateLevels(PC, PetscReal scale);
PETSC_INTERN PetscErrorCode PCKCyclePlaceRun(PC_KCycle *, const KCycleRun *, Vec, Vec);
PETSC_INTERN PetscErrorCode PCKCyclePlaceView(PC, PetscViewer);

/* launches.c */
PETSC_INTERN PetscErrorCode PCKCycleLaunchesView(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCKCycleBlockSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleGraphObstacle(PC, const char *why[]);
PETSC_INTERN const char    *PCKCycleFused(const PC_KCycle *, PetscInt);

/* split.c */
PETSC_INTERN void           PCKCycleSplitReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleSplitSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleSplitView(const PC_KCycle *, PetscViewer);

/* inverse.c */
PETSC_INTERN PetscErrorCode KCycleCoarsestMakeConsistent(const PC_MG_Levels *, Vec);
PETSC_INTERN PetscErrorCode PCKCycleInverseCreate(PC, KCycleLevels *, PetscInt count, const char *why[]);
PETSC_INTERN PetscErrorCode PCKCycleInverseSetUp(PC);

/* devicecopy.c */
PETSC_INTERN PetscErrorCode PCKCycleDeviceCopyCompose(PC, PetscBool);

/* coarsest.c */
PETSC_INTERN PetscErrorCode KCycleHasOption(PetscObject, size_t n, const char *const names[], PetscBool *);
PETSC_INTERN PetscErrorCode PCKCycleCoarseForget(PC);
PETSC_INTERN PetscErrorCode PCKCycleCoarseBefore(PC);
PETSC_INTERN PetscErrorCode PCKCycleCoarseAfter(PC);

/* userchanges.c */
PETSC_INTERN PetscErrorCode KCycleLevelsStamp(PC);
PETSC_INTERN PetscErrorCode KCycleLevelsCheck(PC);
PETSC_INTERN PetscErrorCode PCKCycleRefuseChanges(PC);
PETSC_INTERN PetscErrorCode PCKCycleStartAnew(PC);
PETSC_INTERN PetscErrorCode PCKCycleEstimateAnew(KSP);
PETSC_INTERN PetscErrorCode KCycleLevelsSetCoarse(PC, KSP);
PETSC_INTERN PetscErrorCode PCKCycleCoarseKeep(PC);
PETSC_INTERN PetscErrorCode PCKCycleCoarseInstall(PC);
PETSC_INTERN PetscErrorCode PCMGSetLevels_KCycle(PC, PetscInt, MPI_Comm *);

/* userchoices.c */
PETSC_INTERN PetscErrorCode PCKCycleSolversNotice(PC);
PETSC_INTERN PetscErrorCode PCKCycleSolversKeep(PC);
PETSC_INTERN PetscErrorCode PCKCycleSolversMade(PC);
PETSC_INTERN PetscBool      KCycleLevelIsTheirs(const PC_KCycle *, PetscInt);
PETSC_INTERN PetscErrorCode KCycleSmootherIsFree(KSP, const KCycleChoice *, PetscBool *);

/* products.c */
PETSC_INTERN PetscErrorCode KCycleKSPUseStencil(KSP, PC);

/* answer.c */
PETSC_INTERN PetscErrorCode PCKCycleCheckAnswer(PC, KSP, Vec, Vec);

/* fallback.c */
PETSC_INTERN PetscErrorCode PCKCycleFallbackReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleFallbackSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleFallbackFollow(PC);
PETSC_INTERN PetscErrorCode PCKCycleFallbackNote(PC, KSP);
PETSC_INTERN PetscErrorCode PCKCycleFallbackView(PC, PetscViewer);

/* boomeramg.c */
PETSC_INTERN PetscErrorCode PCKCycleFallbackSetUpInner(PC);
PETSC_INTERN PetscErrorCode KCycleFallbackExists(PC, PetscBool *);

/* profile.c */
PETSC_INTERN PetscErrorCode PCKCycleProfileReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleProfileFollow(PC_KCycle *);
PETSC_INTERN void           PCKCycleProfileStart(PC_KCycle *);
PETSC_INTERN void           PCKCycleProfileStop(PC_KCycle *, PetscInt);
PETSC_INTERN PetscErrorCode PCKCycleProfileFinish(PC);
PETSC_INTERN PetscErrorCode PCKCycleProfileShow(PC, PetscBool csv, PetscViewer);

/* model.c */
PETSC_INTERN PetscErrorCode PCKCycleModelReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCycleModelSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCycleModelChanged(PC);
PETSC_INTERN PetscErrorCode PCKCycleModelCalibrate(PC);
PETSC_INTERN PetscErrorCode PCKCycleModelPause(PC, PetscBool);
PETSC_INTERN void           PCKCycleModelCompare(PC_KCycle *, const KCycleVisit *, PetscReal);

/* time.c */
PETSC_INTERN PetscErrorCode PCKCycleModelView(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCKCycleGetModel_KCycle(PC, PetscBool fit, KCycleModel **);

/* predict.c */
PETSC_INTERN PetscInt       PCKCycleSweepsAsked(const PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCyclePredictReset(PC_KCycle *);
PETSC_INTERN PetscErrorCode PCKCyclePredictSetUp(PC);
PETSC_INTERN PetscErrorCode PCKCyclePredictBegin(PC, KSP);
PETSC_INTERN PetscErrorCode PCKCyclePredictEnd(PC, KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode PCKCyclePredictView(PC, PetscViewer);

/* forecast.c */
PETSC_INTERN PetscErrorCode PCKCycleForecastMake(PC, PetscBool known);
PETSC_INTERN PetscInt       PCKCycleForecastBest(const PC_KCycle *);
PETSC_INTERN PetscReal      PCKCycleForecastIterations(const KCyclePredict *, const KCycleForecast *);
PETSC_INTERN PetscReal      PCKCycleForecastSeconds(const KCyclePredict *, const KCycleForecast *);

/* fourier.c */
PETSC_INTERN PetscErrorCode PCKCycleFourierTake(PC, PetscInt most, KCycleFourier *, size_t, char[]);

/* roofline.c */
PETSC_INTERN PetscErrorCode PCKCycleRooflineLoad(PC);
