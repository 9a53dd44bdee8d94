/*
  The sources of kernels and levels are compiled twice, for PETSc's numbers and for single precision. These are the
  names that the functions of the second kind have for the linker.
*/
#pragma once

#if defined(KCYCLE_SINGLE)
  #define KCycleBoxExchange                KCycleBoxExchange_Single
  #define KCycleBoxExchangeBegin           KCycleBoxExchangeBegin_Single
  #define KCycleBoxExchangeEnd             KCycleBoxExchangeEnd_Single
  #define KCycleBoxReduce                  KCycleBoxReduce_Single
  #define KCycleBoxTileCreate              KCycleBoxTileCreate_Single
  #define KCycleBoxTileDestroy             KCycleBoxTileDestroy_Single
  #define KCycleBoxTileInterpolate         KCycleBoxTileInterpolate_Single
  #define KCycleBoxTilePack                KCycleBoxTilePack_Single
  #define KCycleBoxTileRelax               KCycleBoxTileRelax_Single
  #define KCycleBoxTileRestrict            KCycleBoxTileRestrict_Single
  #define KCycleBoxTileUnpack              KCycleBoxTileUnpack_Single
  #define KCycleColoursCreate              KCycleColoursCreate_Single
  #define KCycleColoursDestroy             KCycleColoursDestroy_Single
  #define KCycleColoursRelaxLine           KCycleColoursRelaxLine_Single
  #define KCycleColoursSetUp               KCycleColoursSetUp_Single
  #define KCycleKernelsOf                  KCycleKernelsOf_Single
  #define KCycleKernels_Counted            KCycleKernels_Counted_Single
  #define KCycleKernels_Host               KCycleKernels_Host_Single
  #define KCycleLineCoefficients           KCycleLineCoefficients_Single
  #define KCycleLineCompute                KCycleLineCompute_Single
  #define KCycleLineGather                 KCycleLineGather_Single
  #define KCycleLineRelaxBoth              KCycleLineRelaxBoth_Single
  #define KCycleLineScale                  KCycleLineScale_Single
  #define KCyclePassExchange               KCyclePassExchange_Single
  #define KCyclePassInnerPlanes            KCyclePassInnerPlanes_Single
  #define KCyclePassInterpolateSmooth      KCyclePassInterpolateSmooth_Single
  #define KCyclePassOuterPlanes            KCyclePassOuterPlanes_Single
  #define KCyclePassSmoothRestrict         KCyclePassSmoothRestrict_Single
  #define KCyclePassSweeps                 KCyclePassSweeps_Single
  #define KCycleShapeCreate                KCycleShapeCreate_Single
  #define KCycleSmootherCreate             KCycleSmootherCreate_Single
  #define KCycleSmootherCreateLike         KCycleSmootherCreateLike_Single
  #define KCycleSmootherCreate_Alternating KCycleSmootherCreate_Alternating_Single
  #define KCycleSmootherCreate_Auto        KCycleSmootherCreate_Auto_Single
  #define KCycleSmootherCreate_Chebyshev   KCycleSmootherCreate_Chebyshev_Single
  #define KCycleSmootherCreate_EightColor  KCycleSmootherCreate_EightColor_Single
  #define KCycleSmootherCreate_FourColor   KCycleSmootherCreate_FourColor_Single
  #define KCycleSmootherCreate_Jacobi      KCycleSmootherCreate_Jacobi_Single
  #define KCycleSmootherCreate_RedBlack    KCycleSmootherCreate_RedBlack_Single
  #define KCycleSmootherCreate_ZebraX      KCycleSmootherCreate_ZebraX_Single
  #define KCycleSmootherCreate_ZebraY      KCycleSmootherCreate_ZebraY_Single
  #define KCycleSmootherCreate_ZebraZ      KCycleSmootherCreate_ZebraZ_Single
  #define KCycleSmootherDestroy            KCycleSmootherDestroy_Single
  #define KCycleSmootherFinalize           KCycleSmootherFinalize_Single
  #define KCycleSmootherGetList            KCycleSmootherGetList_Single
  #define KCycleSmootherLogFlops           KCycleSmootherLogFlops_Single
  #define KCycleSmootherRegister           KCycleSmootherRegister_Single
  #define KCycleSmootherRegisterAll        KCycleSmootherRegisterAll_Single
  #define KCycleSmootherSetName            KCycleSmootherSetName_Single
  #define KCycleSmootherSetUp              KCycleSmootherSetUp_Single
  #define KCycleSmootherSweeps             KCycleSmootherSweeps_Single
  #define KCycleSmootherTile               KCycleSmootherTile_Single
  #define KCycleSmootherTrips              KCycleSmootherTrips_Single
  #define KCycleSmootherView               KCycleSmootherView_Single
  #define KCycleSmootherWrapClusters       KCycleSmootherWrapClusters_Single
  #define KCycleStencilCompute             KCycleStencilCompute_Single
  #define KCycleStencilDiagonal            KCycleStencilDiagonal_Single
  #define KCycleTransferInterpolate        KCycleTransferInterpolate_Single
  #define KCycleTransferInterpolateHalf    KCycleTransferInterpolateHalf_Single
  #define KCycleTransferInterpolateLine    KCycleTransferInterpolateLine_Single
  #define KCycleTransferRestrict           KCycleTransferRestrict_Single
  #define KCycleTransferRestrictBegin      KCycleTransferRestrictBegin_Single
  #define KCycleTransferRestrictEnd        KCycleTransferRestrictEnd_Single
  #define KCycleTransferRestrictHalf       KCycleTransferRestrictHalf_Single
  #define KCycleTransferRestrictLine       KCycleTransferRestrictLine_Single
  #define KCycleTransferShare              KCycleTransferShare_Single
  #define KCycleTransferTouch              KCycleTransferTouch_Single
  #define KCycleTileCreate                 KCycleTileCreate_Single
  #define KCycleTileDestroy                KCycleTileDestroy_Single
  #define KCycleTileInterpolate            KCycleTileInterpolate_Single
  #define KCycleTilePackB                  KCycleTilePackB_Single
  #define KCycleTilePackX                  KCycleTilePackX_Single
  #define KCycleTileRelax                  KCycleTileRelax_Single
  #define KCycleTileRelaxZero              KCycleTileRelaxZero_Single
  #define KCycleTileRestrict               KCycleTileRestrict_Single
  #define KCycleTileUnpack                 KCycleTileUnpack_Single
  #define KCycleTridiagonalFactor          KCycleTridiagonalFactor_Single
  #define KCycleTridiagonalSolve           KCycleTridiagonalSolve_Single
#endif
