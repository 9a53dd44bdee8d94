"""The solvers that make compare tries, one table for all. For a better setting of one of them, here is the
place.

    name, family, options, what it needs, why these options

In the report the best of each family counts. KSP, norm and tolerance are the program's, or those that compare.py gives
to all alike; options are for the solver without a prefix, compare.py puts it before them. Needs: "cg": only where the
program's KSP is conjugate gradients; "dm": only where its solver has a DM that was refined; "hypre": only where PETSc
has it; "struct": only where hypre's headers are, too.
"""

import collections

Solver = collections.namedtuple("Solver", "name family options needs reason")

BOOMERAMG = ("-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_strong_threshold 0.25 "
             "-pc_hypre_boomeramg_P_max 4 ")
PFMG = "-dm_mat_type hyprestruct -pc_type pfmg "
DIRECT = "-ksp_type hyprepcg -pc_type none "

SOLVERS = [
    Solver("kcycle", "kcycle", "-pc_type kcycle", "", "ours, with no option set"),
    Solver("kcycle-kcg", "kcycle", "-ksp_type kcg -pc_type kcycle", "cg",
           "conjugate gradients in fewer passes through memory"),
    Solver("boomeramg-hmis", "BoomerAMG",
           BOOMERAMG + "-pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type ext+i "
                       "-pc_hypre_boomeramg_relax_type_all l1scaled-SOR/Jacobi",
           "hypre", "what hypre's authors advise for conjugate gradients in 3D; threshold 0.25 with four entries in a "
                    "row of an interpolation was faster than 0.5 in every case tried"),
    Solver("boomeramg-pmis", "BoomerAMG",
           BOOMERAMG + "-pc_hypre_boomeramg_coarsen_type PMIS -pc_hypre_boomeramg_interp_type ext+i "
                       "-pc_hypre_boomeramg_relax_type_all l1scaled-SOR/Jacobi",
           "hypre", "fewer coarse points: a cheaper set-up for some iterations more"),
    Solver("boomeramg-sor", "BoomerAMG",
           BOOMERAMG + "-pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type ext+i", "hypre",
           "PETSc's default smoother (symmetric SOR within a process) instead of the l1-scaled one"),
    Solver("pfmg", "PFMG", PFMG, "hypre", "hypre's default: weighted Jacobi, Galerkin coarse operators"),
    Solver("pfmg-nongalerkin", "PFMG", PFMG + "-pc_pfmg_rap_type non-Galerkin", "hypre",
           "coarse operators of as few points as the fine one"),
    Solver("pfmg-redblack", "PFMG", PFMG + "-pc_pfmg_relax_type symmetric-Red/Black-Gauss-Seidel", "hypre",
           "the stronger smoother; symmetric, so that conjugate gradients may be used"),
    Solver("pfmg-redblack-nongalerkin", "PFMG",
           PFMG + "-pc_pfmg_relax_type symmetric-Red/Black-Gauss-Seidel -pc_pfmg_rap_type non-Galerkin", "hypre",
           "both; mostly the fastest of the four on smooth coefficients"),
    Solver("pfmg-direct", "PFMG", DIRECT, "hypre,struct,cg",
           "without PETSc's interface (bench/pfmg.c): symmetric storage, constant coefficients, conjugate gradients "
           "of hypre's own; 0.4 to 0.9 of the time"),
    Solver("pfmg-direct-nongalerkin", "PFMG", DIRECT + "-ksp_hyprepcg_rap 1", "hypre,struct,cg",
           "coarse operators of as few points as the fine one"),
    Solver("pfmg-direct-redblack", "PFMG", DIRECT + "-ksp_hyprepcg_rap 1 -ksp_hyprepcg_relax 2", "hypre,struct,cg",
           "and red-black Gauss-Seidel"),
    Solver("pfmg-direct-skip", "PFMG", DIRECT + "-ksp_hyprepcg_rap 1 -ksp_hyprepcg_relax 2 -ksp_hyprepcg_skip 1",
           "hypre,struct,cg",
           "and no relaxation on grids where it does little: mostly the fastest"),
    Solver("smg", "SMG", "-dm_mat_type hyprestruct -pc_type smg", "hypre",
           "planes and lines: robust for anisotropy, expensive; hypre has no setting of note"),
    Solver("mg", "PCMG", "-pc_type mg", "dm",
           "PETSc's multigrid on the levels that -da_refine has made of the program's DM: Chebyshev with SOR"),
    Solver("mg-sor", "PCMG",
           "-pc_type mg -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type sor", "dm",
           "one sweep of symmetric SOR: the fastest on Poisson's equation"),
    Solver("mg-galerkin", "PCMG", "-pc_type mg -pc_mg_galerkin both", "dm",
           "coarse operators as products, for coefficients that jump"),
    Solver("mg-own-levels", "PCMG", "-pc_type kcycle -pc_kcycle_structured off -pc_kcycle_kappa 1", "",
           "PCMG's V-cycle, smoothers and Galerkin products on levels that need neither a DM nor a refined one: PCMG "
           "alone would refuse most programs"),
    Solver("gamg", "PCGAMG", "-pc_type gamg", "", "PETSc's default algebraic multigrid"),
    Solver("gamg-tuned", "PCGAMG", "-pc_type gamg -pc_gamg_threshold 0.02 -mg_levels_ksp_max_it 1", "",
           "weak couplings are dropped, one smoothing step: the fastest of the settings that were tried on Poisson's "
           "equation"),
    Solver("ilu", "one level", "-pc_type bjacobi -sub_pc_type ilu", "",
           "incomplete factors without fill, one block a process (of a symmetric matrix they are those of Cholesky)"),
    Solver("jacobi", "one level", "-pc_type jacobi", "",
           "the Krylov method alone, scaled by the diagonal: what all others have to beat"),
    Solver("fastpoisson", "fastpoisson", "-pc_type fastpoisson", "",
           "exact, by FFT, for operators with constant or separable coefficients; refuses others"),
]

# Others of ours, for tables
VARIANTS = [
    Solver("kcycle-double", "kcycle, others", "-pc_type kcycle -pc_kcycle_precision double", "", ""),
    Solver("kcycle-richardson", "kcycle, others", "-ksp_type richardson -pc_type kcycle -pc_kcycle_overcorrect 1.06",
           "cg", "no vectors of a Krylov method"),
    Solver("kcycle-stencil", "kcycle, others", "-dm_mat_type stencil -pc_type kcycle", "",
           "the program's matrix without column indices"),
]

# Paper 002 (Wagner, Rupp, Weinbub), its variants as options: three sweeps of Jacobi with 0.67 before and after,
# thresholds 0.25 and 0.08 (halved from level to level), truncation 0.2,
# at most 50 points on the coarsest level
RS = ("-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_relax_type_all Jacobi "
      "-pc_hypre_boomeramg_relax_weight_all 0.67 -pc_hypre_boomeramg_no_CF "
      "-pc_hypre_boomeramg_grid_sweeps_all 3 -pc_hypre_boomeramg_relax_type_coarse Gaussian-elimination "
      "-pc_hypre_boomeramg_grid_sweeps_coarse 1 "
      "-pc_hypre_boomeramg_strong_threshold 0.25 -pc_hypre_boomeramg_truncfactor 0.2 -pc_hypre_boomeramg_max_row_sum "
      "1.0 -pc_hypre_boomeramg_max_coarse_size 50 "
      "-pc_hypre_boomeramg_P_max 0 -pc_hypre_boomeramg_agg_nl 0 ")
AGGREGATION = ("-pc_type gamg -pc_gamg_type agg -pc_gamg_aggressive_coarsening 0 -pc_gamg_threshold 0.08 "
               "-pc_gamg_threshold_scale 0.5 -pc_gamg_coarse_eq_limit 50 "
               "-mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.67 -mg_levels_pc_type jacobi "
               "-mg_levels_ksp_max_it 3 -mg_levels_ksp_norm_type none "
               "-mg_coarse_ksp_type preonly -mg_coarse_pc_type svd -pc_gamg_repartition false ")
PAPER = [
    Solver("rs_classic", "paper", RS + "-pc_hypre_boomeramg_coarsen_type Ruge-Stueben -pc_hypre_boomeramg_interp_type "
                                       "classical", "hypre", "one process"),
    Solver("rs_direct", "paper", RS + "-pc_hypre_boomeramg_coarsen_type Ruge-Stueben -pc_hypre_boomeramg_interp_type "
                                      "direct", "hypre", "one process"),
    Solver("rsop_direct", "paper", RS + "-pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type direct",
           "hypre", "HMIS of one process is the first pass of Ruge and Stueben"),
    Solver("rs0_direct", "paper", RS + "-pc_hypre_boomeramg_coarsen_type Ruge-Stueben -pc_hypre_boomeramg_interp_type "
                                       "direct", "hypre", "a block for each process"),
    Solver("rs3_direct", "paper", RS + "-pc_hypre_boomeramg_coarsen_type modifiedRuge-Stueben "
                                       "-pc_hypre_boomeramg_interp_type direct", "hypre", "a block for each process"),
    Solver("ag", "paper", AGGREGATION + "-pc_gamg_agg_nsmooths 0", "", "plain aggregation"),
    Solver("sa", "paper", AGGREGATION + "-pc_gamg_agg_nsmooths 1", "",
           "smoothed; PETSc chooses the damping of its interpolation"),
]

# What bench/battery.py --peers takes: all of them, and settings that published tables have
HMIS = ("-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_coarsen_type HMIS "
        "-pc_hypre_boomeramg_interp_type ext+i ")
PEERS = {solver.name: solver.options for solver in SOLVERS if not {"dm", "struct"} & set(solver.needs.split(","))}
PEERS.update(boomeramg=HMIS + "-pc_hypre_boomeramg_relax_type_all l1scaled-SOR/Jacobi "
                              "-pc_hypre_boomeramg_strong_threshold 0.5",
             boomeramg_wind=HMIS + "-pc_hypre_boomeramg_strong_threshold 0.25", boomeramg_pmax=PEERS["boomeramg-hmis"])


def with_prefix(options, prefix):
    """The words of options for the solver of this prefix; those of a DM have none"""
    return ["-" + prefix + word[1:] if word[0] == "-" and word[1:2].isalpha() and not word.startswith("-dm_") else word
            for word in options.split()]
