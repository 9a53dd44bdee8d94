"""The problems of the battery: name, options of bench/battery.c, thresholds of the library that it watches."""

import collections
import fnmatch
import random

Case = collections.namedtuple("Case", "name group options watches")

CONSTANT = """
2d-dirichlet            -cells 500,500                                                  KCYCLE_COARSEST
2d-dirichlet-odd        -cells 333,471
2d-vertices             -cells 511,511 -ends vv,vv                                      KCYCLE_COARSEST
2d-stored               -cells 385,385 -ends ss,ss
2d-stored-even          -cells 400,330 -ends ss,ss
2d-neumann              -cells 400,350 -ends nn,nn                                      KCYCLE_CLOSED
2d-neumann-odd          -cells 385,471 -ends nn,nn                                      KCYCLE_CLOSED
2d-periodic             -cells 384,384 -ends pp,pp
2d-periodic-odd         -cells 405,345 -ends pp,pp
2d-mixed-ends           -cells 450,391 -ends dn,pp                                      KCYCLE_CLOSED
2d-9-points             -cells 401,401 -scheme elements
2d-9-points-stored      -cells 385,300 -scheme elements -ends ss,ss
2d-9-points-periodic    -cells 360,360 -scheme elements -ends pp,pp
2d-9-points-neumann     -cells 301,341 -scheme elements -ends nn,nn
2d-strip                -cells 4000,12                                                  KCYCLE_COARSEST
2d-strip-neumann        -cells 9,5000 -ends nn,nn
1d-dirichlet            -cells 100000
1d-mixed-ends           -cells 77777 -ends dn
1d-neumann              -cells 65537 -ends nn
3d-dirichlet            -cells 64,64,64                                                 KCYCLE_COARSEST
3d-dirichlet-odd        -cells 67,53,71
3d-vertices             -cells 63,63,63 -ends vv,vv,vv                                  KCYCLE_COARSEST
3d-stored               -cells 65,65,65 -ends ss,ss,ss
3d-stored-even          -cells 60,70,56 -ends ss,ss,ss
3d-neumann              -cells 60,72,54 -ends nn,nn,nn                                  KCYCLE_CLOSED
3d-neumann-odd          -cells 65,59,71 -ends nn,nn,nn                                  KCYCLE_CLOSED
3d-periodic             -cells 64,64,64 -ends pp,pp,pp
3d-periodic-odd         -cells 63,45,57 -ends pp,pp,pp
3d-mixed-ends           -cells 64,61,70 -ends nn,pp,dn                                  KCYCLE_CLOSED
3d-27-points            -cells 49,49,49 -scheme elements
3d-27-points-stored     -cells 49,40,57 -scheme elements -ends ss,ss,ss
3d-27-points-periodic   -cells 48,40,44 -scheme elements -ends pp,pp,pp
3d-plate                -cells 220,200,5                                                KCYCLE_COARSEST
3d-plate-neumann        -cells 201,230,4 -ends nn,nn,nn
3d-bar                  -cells 20,21,500
"""

# A reaction of 2 in all points of an end is a Dirichlet end half a cell away, a smaller one a film that resists, a
# larger one a penalty
ENDS = """
2d-inlet                -cells 400,400 -ends in,nn                                      KCYCLE_CLOSED
2d-outlet               -cells 411,380 -ends nn,no                                      KCYCLE_CLOSED
2d-inlet-and-outlet     -cells 400,401 -ends io,nn                                      KCYCLE_CLOSED
2d-open-but-3-percent   -cells 400,400 -ends nn,nn -reaction 2 -reactive inlet:0.97     KCYCLE_CLOSED
2d-open-but-10-percent  -cells 400,400 -ends nn,nn -reaction 2 -reactive inlet:0.9      KCYCLE_CLOSED
2d-film-0.08            -cells 400,400 -ends nn,nn -reaction 0.08 -reactive inlet:1     KCYCLE_CLOSED
2d-film-0.15            -cells 400,400 -ends nn,nn -reaction 0.15 -reactive inlet:1     KCYCLE_CLOSED
2d-film-8               -cells 400,400 -ends nn,nn -reaction 8 -reactive inlet:1        KCYCLE_CLOSED
2d-film-15              -cells 400,400 -ends nn,nn -reaction 15 -reactive inlet:1       KCYCLE_CLOSED
2d-penalty-inlet        -cells 400,400 -ends nn,nn -penalty 1e10 -held inlet:0.5        KCYCLE_CLOSED
2d-penalty-rim          -cells 401,360 -ends nn,nn -penalty 1e10                        KCYCLE_CLOSED
2d-penalty-1000         -cells 400,400 -ends nn,nn -penalty 1e3 -held inlet:1           KCYCLE_CLOSED
3d-inlet                -cells 65,65,65 -ends in,nn,nn                                  KCYCLE_CLOSED
3d-outlet               -cells 60,64,68 -ends nn,nn,no                                  KCYCLE_CLOSED
3d-inlet-half           -cells 65,65,65 -ends nn,nn,nn -reaction 2 -reactive inlet:0.5  KCYCLE_CLOSED
3d-open-but-3-percent   -cells 64,66,64 -ends nn,nn,nn -reaction 2 -reactive inlet:0.97 KCYCLE_CLOSED
3d-film-0.08            -cells 64,64,64 -ends nn,nn,nn -reaction 0.08 -reactive inlet:1 KCYCLE_CLOSED
3d-film-0.15            -cells 64,64,64 -ends nn,nn,nn -reaction 0.15 -reactive inlet:1 KCYCLE_CLOSED
3d-film-15              -cells 64,64,64 -ends nn,nn,nn -reaction 15 -reactive inlet:1   KCYCLE_CLOSED
3d-penalty-inlet        -cells 64,64,64 -ends nn,nn,nn -penalty 1e10 -held inlet:0.5    KCYCLE_CLOSED
3d-penalty-rim          -cells 64,61,60 -ends nn,nn,nn -penalty 1e10                    KCYCLE_CLOSED
3d-penalty-1000         -cells 64,64,64 -ends nn,nn,nn -penalty 1e3 -held inlet:1       KCYCLE_CLOSED
"""

# Of the two values of block:2 next to 5, one is a jump of more than 3, the other is not
JUMPS = """
2d-cliff-below          -cells 401,401 -region block:2 -contrast 4.9                    KCYCLE_JUMP
2d-cliff-above          -cells 401,401 -region block:2 -contrast 5.1                    KCYCLE_JUMP
3d-cliff-below          -cells 64,64,64 -region block:2 -contrast 4.9                   KCYCLE_JUMP
3d-cliff-above          -cells 64,64,64 -region block:2 -contrast 5.1                   KCYCLE_JUMP
2d-block                -cells 300,300 -ends ss,ss -region block:2 -contrast 1e6        KC_CLUSTER_TIGHT
                        KC_CLUSTER_GROWTH KC_CLUSTER_GAIN
3d-block                -cells 48,48,48 -ends ss,ss,ss -region block:2 -contrast 1e6    KC_CLUSTER_TIGHT
                        KC_CLUSTER_GROWTH KC_CLUSTER_GAIN
2d-square-1e3           -cells 500,500 -ends ss,ss -region square:0.34
2d-square-1e6           -cells 385,385 -region square:0.34 -contrast 1e6
2d-square-1e-6          -cells 385,385 -region square:0.34 -contrast 1e-6
2d-balls-1e3            -cells 384,384 -ends nn,nn -region balls:3:0.35
2d-balls-1e6            -cells 385,385 -region balls:3:0.35 -contrast 1e6
2d-balls-1e-3           -cells 385,420 -region balls:5:0.4 -contrast 1e-3
2d-scattered-1e3        -cells 400,400 -region scattered:60:16
2d-scattered-1e6        -cells 400,400 -region scattered:60:16 -contrast 1e6            KC_CLUSTER_TIGHT
2d-specks-1e6           -cells 400,400 -region scattered:800:3 -contrast 1e6            KCYCLE_CLUSTER_POINTS
                        KC_CLUSTER_TIGHT KC_CLUSTER_STRONG
2d-scattered-1e-6       -cells 391,400 -ends nn,dn -region scattered:60:16 -contrast 1e-6
2d-mixed-10             -cells 400,400 -region mixed:0.1                                KCYCLE_CLUSTER_POINTS
2d-mixed-30             -cells 400,400 -region mixed:0.3                                KCYCLE_CLUSTER_POINTS
2d-mixed-50             -cells 400,400 -region mixed:0.5                                KCYCLE_CLUSTER_POINTS
2d-mixed-59             -cells 400,400 -region mixed:0.59                               KCYCLE_CLUSTER_POINTS
2d-mixed-70             -cells 400,400 -region mixed:0.7
2d-mixed-90             -cells 400,400 -region mixed:0.9
2d-mixed-50-neumann     -cells 333,371 -ends nn,nn -region mixed:0.5                    KCYCLE_CLUSTER_POINTS
2d-mixed-30-1e6         -cells 400,400 -region mixed:0.3 -contrast 1e6                  KCYCLE_CLUSTER_POINTS
2d-mixed-50-1e6         -cells 512,512 -region mixed:0.5 -contrast 1e6                  KCYCLE_CLUSTER_POINTS
2d-mixed-59-1e6         -cells 400,400 -region mixed:0.59 -contrast 1e6                 KCYCLE_CLUSTER_POINTS
2d-mixed-contrast-80    -cells 400,400 -region mixed:0.5 -contrast 80
2d-mixed-contrast-10    -cells 400,400 -region mixed:0.5 -contrast 10
2d-random-1e3           -cells 400,400 -random 1e3                                      KC_CLUSTER_STRONG
2d-random-1e6           -cells 400,400 -random 1e6                                      KC_CLUSTER_STRONG
2d-checker-1            -cells 384,384 -ends pp,pp -region checker:1
2d-checker-2            -cells 384,384 -ends pp,pp -region checker:2                    KC_CLUSTER_TIGHT
2d-checker-3            -cells 384,384 -ends pp,pp -region checker:3                    KC_CLUSTER_TIGHT
2d-checker-4            -cells 384,384 -ends pp,pp -region checker:4                    KC_CLUSTER_TIGHT
2d-checker-3-1e6        -cells 387,400 -region checker:3 -contrast 1e6                  KC_CLUSTER_TIGHT
                        KC_CLUSTER_SHIFT
2d-walls                -cells 400,400 -ends dd,nn -region walls:24:0 -contrast 1e-6
2d-walls-gaps           -cells 400,401 -ends dd,nn -region walls:24:0.02 -contrast 1e-6
2d-rooms                -cells 400,400 -region rooms:24:0 -contrast 1e-6
2d-rooms-gaps           -cells 401,400 -region rooms:24:0.02 -contrast 1e-6
2d-sheets-1e3           -cells 400,400 -region walls:16:0
2d-sheets-1e6           -cells 400,401 -ends nn,dd -region walls:17:0 -contrast 1e6
2d-lattice-1e3          -cells 400,400 -region rooms:16:0
2d-broken-lattice-1e6   -cells 400,400 -region rooms:16:0.05 -contrast 1e6
2d-fibres               -cells 400,400 -region fibres:0.08 -contrast 1e4
2d-holes                -cells 400,400 -ends ss,ss -inactive balls:3:0.35               KCYCLE_EXCESS KCYCLE_GAP
2d-holes-neumann        -cells 385,400 -ends nn,nn -inactive balls:4:0.3                KCYCLE_EXCESS
2d-holes-scattered      -cells 400,400 -ends dn,nn -inactive scattered:100:12 -reaction 1e-6  KCYCLE_FILL
2d-pockets              -cells 400,400 -ends dn,nn -inactive scattered:100:12 -image
2d-pinholes             -cells 400,400 -inactive mixed:0.02                             KCYCLE_EXCESS
2d-wells                -cells 400,400 -ends nn,nn -penalty 1e3 -held wells:20
2d-body-at-the-end      -cells 400,120 -ends ss,ss -region balls:3:0.5 -contrast 1e6    KCYCLE_EXCESS KC_CLUSTER_GAIN
3d-square-1e3           -cells 65,65,65 -ends ss,ss,ss -region square:0.34
3d-square-1e6           -cells 64,64,64 -region square:0.34 -contrast 1e6
3d-balls-1e3            -cells 64,64,64 -ends nn,nn,nn -region balls:3:0.35
3d-balls-1e6            -cells 61,64,66 -region balls:3:0.35 -contrast 1e6
3d-balls-1e-6           -cells 64,64,64 -region balls:3:0.35 -contrast 1e-6
3d-scattered-1e3        -cells 64,64,64 -region scattered:60:8
3d-scattered-1e6        -cells 64,64,64 -region scattered:60:8 -contrast 1e6            KC_CLUSTER_TIGHT
3d-specks-1e6           -cells 60,60,60 -region scattered:600:2.5 -contrast 1e6         KCYCLE_CLUSTER_POINTS
                        KC_CLUSTER_TIGHT KC_CLUSTER_STRONG
3d-mixed-3              -cells 60,60,60 -region mixed:0.03
3d-mixed-10             -cells 60,60,60 -region mixed:0.1
3d-mixed-20             -cells 60,60,60 -region mixed:0.2                               KCYCLE_CLUSTER_POINTS
3d-mixed-31             -cells 60,60,60 -region mixed:0.31                              KCYCLE_CLUSTER_POINTS
3d-mixed-50             -cells 60,60,60 -region mixed:0.5
3d-mixed-70             -cells 60,60,60 -region mixed:0.7
3d-mixed-90             -cells 60,60,60 -region mixed:0.9
3d-mixed-30-1e6         -cells 60,60,60 -region mixed:0.3 -contrast 1e6                 KCYCLE_CLUSTER_POINTS
3d-mixed-50-1e6         -cells 60,60,60 -region mixed:0.5 -contrast 1e6                 KCYCLE_CLUSTER_POINTS
3d-mixed-contrast-80    -cells 60,60,60 -region mixed:0.5 -contrast 80
3d-mixed-50-neumann     -cells 57,64,55 -ends nn,nn,nn -region mixed:0.5
3d-mixed-50-million     -cells 101,101,101 -region mixed:0.5
3d-random-1e3           -cells 60,60,60 -random 1e3                                     KC_CLUSTER_STRONG
3d-random-1e6           -cells 60,60,60 -random 1e6                                     KC_CLUSTER_STRONG
3d-checker-1            -cells 60,60,60 -ends pp,pp,pp -region checker:1
3d-checker-2            -cells 60,60,60 -ends pp,pp,pp -region checker:2                KC_CLUSTER_TIGHT
3d-checker-3            -cells 60,60,60 -ends pp,pp,pp -region checker:3                KC_CLUSTER_TIGHT
3d-checker-4            -cells 64,64,64 -ends pp,pp,pp -region checker:4                KC_CLUSTER_TIGHT
3d-checker-odd-1e6      -cells 27,27,39 -ends pp,pp,pp -region checker:3 -contrast 1e6  KC_CLUSTER_GROWTH
                        KC_CLUSTER_SHIFT
3d-checker-small-1e6    -cells 8,8,8 -ends nn,nn,nn -region checker:3 -contrast 1e6
3d-walls                -cells 64,64,64 -ends dd,nn,nn -region walls:16:0 -contrast 1e-6
3d-walls-gaps           -cells 64,64,65 -ends dd,nn,nn -region walls:16:0.02 -contrast 1e-6
3d-rooms                -cells 64,64,64 -region rooms:16:0 -contrast 1e-6
3d-rooms-gaps           -cells 64,63,64 -region rooms:16:0.02 -contrast 1e-6
3d-sheets-1e3           -cells 64,64,64 -region walls:12:0
3d-sheets-1e6           -cells 64,64,64 -ends nn,dd,nn -region walls:13:0 -contrast 1e6
3d-fibres               -cells 64,64,64 -region fibres:0.05 -contrast 1e4
3d-fibres-thin          -cells 64,60,62 -region fibres:0.01 -contrast 1e6
3d-holes                -cells 65,65,65 -ends ss,ss,ss -inactive balls:3:0.35           KCYCLE_EXCESS KCYCLE_GAP
3d-holes-neumann        -cells 64,60,62 -ends nn,nn,nn -inactive balls:3:0.3            KCYCLE_EXCESS
3d-holes-scattered      -cells 64,64,64 -ends dn,nn,nn -inactive scattered:60:7 -reaction 1e-6
3d-pockets              -cells 64,64,64 -ends dn,nn,nn -inactive scattered:60:7 -image
3d-wells                -cells 70,70,30 -ends nn,nn,nn -penalty 1e3 -held wells:8
3d-body-at-the-end      -cells 33,120,22 -ends ss,ss,ss -region balls:3:0.35 -contrast 1e6   KCYCLE_EXCESS
                        KC_CLUSTER_GAIN
"""

REACTIONS = """
2d-reaction-1e-6        -cells 400,400 -ends nn,nn -reaction 1e-6
2d-reaction-1e-3        -cells 400,400 -ends nn,nn -reaction 1e-3
2d-reaction-1           -cells 400,400 -reaction 1
2d-reaction-1e3         -cells 400,400 -ends nn,nn -reaction 1e3
2d-reaction-balls       -cells 400,400 -ends nn,nn -reaction 1e3 -reactive balls:3:0.35
2d-reaction-mixed       -cells 400,400 -reaction 1 -reactive mixed:0.5
2d-reaction-jumps       -cells 400,400 -ends ss,ss -region balls:3:0.35 -reaction 10
2d-reaction-porous      -cells 400,400 -ends dn,nn -reaction 1e6 -reactive scattered:60:16
3d-reaction-1e-6        -cells 64,64,64 -ends nn,nn,nn -reaction 1e-6
3d-reaction-1e-2        -cells 64,64,64 -ends nn,nn,nn -reaction 1e-2
3d-reaction-1           -cells 64,64,64 -reaction 1
3d-reaction-1e3         -cells 64,64,64 -ends nn,nn,nn -reaction 1e3
3d-reaction-balls       -cells 64,64,64 -ends nn,nn,nn -reaction 1e6 -reactive balls:3:0.35
3d-reaction-mixed       -cells 64,64,64 -reaction 10 -reactive mixed:0.5
3d-reaction-jumps       -cells 65,65,65 -ends ss,ss,ss -region balls:3:0.35 -reaction 1
"""

ANISOTROPY = """
2d-strong-0.55          -cells 400,400 -k 1,0.55                                        KCYCLE_STRONG
2d-strong-0.65          -cells 400,400 -k 1,0.65                                        KCYCLE_STRONG
2d-weak-y-0.1           -cells 400,400 -k 1,0.1
2d-weak-y-0.01          -cells 400,400 -k 1,0.01
2d-weak-x-0.01          -cells 401,350 -ends nn,dd -k 0.01,1
2d-weak-x-1e-4          -cells 400,400 -k 1e-4,1
2d-weak-y-neumann       -cells 400,300 -ends nn,nn -k 1,1e-3
2d-turning-10           -cells 400,400 -turn smooth -turn_by 10
2d-turning-1000         -cells 400,400 -turn smooth -turn_by 1000
2d-turning-blocks-100   -cells 400,400 -turn blocks
3d-strong-0.55          -cells 64,64,64 -k 1,1,0.55                                     KCYCLE_STRONG
3d-strong-0.65          -cells 64,64,64 -k 1,0.65,0.65                                  KCYCLE_STRONG
3d-weak-z-0.1           -cells 64,64,64 -k 1,1,0.1
3d-weak-z-0.01          -cells 64,64,64 -k 1,1,0.01
3d-weak-x-0.01          -cells 64,60,70 -ends nn,dn,nn -k 0.01,1,1
3d-weak-yz-0.01         -cells 64,64,64 -k 1,0.01,0.01
3d-weak-xy-1e-4         -cells 64,64,64 -k 1e-4,1e-4,1
3d-three-strengths      -cells 64,64,64 -k 1,0.1,0.01
3d-three-strengths-n    -cells 60,64,71 -ends nn,nn,nn -k 1e-4,1,1e-2
3d-turning-10           -cells 64,64,64 -turn smooth -turn_by 10
3d-turning-1000         -cells 64,64,64 -turn smooth -turn_by 1000  KCYCLE_PLANES
3d-turning-blocks-100   -cells 64,64,64 -turn blocks
"""

STRETCHED = """
2d-1.02-walls           -cells 400,400 -stretch 1.02,1.02 -fine walls
2d-1.05-walls           -cells 300,300 -stretch 1.05,1.05 -fine walls
2d-1.1-walls            -cells 300,300 -stretch 1.1,1.1 -fine walls
2d-1.3-walls            -cells 300,300 -stretch 1.3,1.3 -fine walls
2d-1.1-one              -cells 300,301 -stretch 1,1.1 -fine walls
2d-1.1-middle           -cells 300,300 -stretch 1.1,1.1 -fine middle
2d-1.05-low-neumann     -cells 300,280 -ends dn,nn -stretch 1.05,1.05 -fine low
2d-1.2-low              -cells 300,300 -ends nn,dn -stretch 1,1.2 -fine low
3d-1.02-walls           -cells 64,64,64 -stretch 1.02,1.02,1.02 -fine walls
3d-1.05-walls           -cells 64,64,64 -stretch 1.05,1.05,1.05 -fine walls
3d-1.1-walls            -cells 64,64,64 -stretch 1.1,1.1,1.1 -fine walls
3d-1.3-walls            -cells 64,64,64 -stretch 1.3,1.3,1.3 -fine walls
3d-1.1-one              -cells 64,64,64 -stretch 1,1,1.1 -fine walls
3d-1.1-two              -cells 64,64,64 -ends dd,nn,nn -stretch 1.1,1.1,1 -fine walls
3d-1.1-middle           -cells 64,64,64 -stretch 1.1,1.1,1.1 -fine middle
3d-1.1-low-neumann      -cells 60,64,56 -ends nn,nn,dn -stretch 1.1,1.1,1.1 -fine low
3d-1.2-channel          -cells 80,50,50 -ends pp,dd,pp -stretch 1,1.2,1 -fine walls
"""

FIELDS = """
2d-smooth               -cells 500,500 -sd 1.5 -length 120,120                          KCYCLE_JUMP
2d-lognormal-1          -cells 400,400 -sd 1 -length 10,10                              KCYCLE_JUMP
2d-lognormal-2          -cells 400,400 -sd 2 -length 10,10                              KCYCLE_JUMP
2d-lognormal-3          -cells 400,400 -ends dd,nn -sd 3 -length 10,10
2d-lognormal-2-short    -cells 400,400 -sd 2 -length 3,3
2d-lognormal-1-points   -cells 400,400 -sd 1 -length 1,1                                KCYCLE_JUMP
2d-lognormal-2-points   -cells 400,400 -sd 2 -length 1,1
2d-lognormal-3-points   -cells 400,400 -ends nn,nn -sd 3 -length 1,1
2d-lognormal-long       -cells 400,400 -ends dd,nn -sd 2 -length 40,3
2d-layers-1e2           -cells 400,400 -layers 1:1e2
2d-layers-1e4           -cells 400,400 -ends dd,nn -layers 4:1e4
2d-channels-1e3         -cells 400,400 -ends dd,nn -region channels:24:6
2d-channels-1e6         -cells 400,400 -ends nn,dd -region channels:16:4 -contrast 1e6
2d-channels-lognormal   -cells 400,400 -ends dd,nn -region channels:24:6 -contrast 1e4 -sd 1 -length 5,5
2d-bodies-30            -cells 400,400 -ends dn,nn -inactive bodies:0.3:20 -reaction 1e-6  KCYCLE_FILL
2d-bodies-50            -cells 400,400 -ends dn,nn -inactive bodies:0.5:20 -reaction 1e-6
2d-bodies-70            -cells 400,400 -ends nn,nn -inactive bodies:0.7:20 -reaction 1e-4
3d-smooth               -cells 70,70,70 -sd 1.5 -length 30,30,30                        KCYCLE_JUMP
3d-lognormal-1          -cells 64,64,64 -sd 1                                           KCYCLE_JUMP
3d-lognormal-2          -cells 64,64,64 -sd 2                                           KCYCLE_JUMP
3d-lognormal-3          -cells 64,64,64 -ends dd,nn,nn -sd 3
3d-lognormal-1-short    -cells 64,64,64 -sd 1 -length 3,3,3
3d-lognormal-2-short    -cells 64,64,64 -sd 2 -length 3,3,3
3d-lognormal-3-short    -cells 64,64,64 -ends nn,nn,nn -sd 3 -length 3,3,3
3d-lognormal-1-points   -cells 64,64,64 -sd 1 -length 1,1,1                             KCYCLE_JUMP
3d-lognormal-2-points   -cells 64,64,64 -sd 2 -length 1,1,1
3d-lognormal-3-points   -cells 64,64,64 -sd 3 -length 1,1,1
3d-lognormal-kz-0.1     -cells 64,64,64 -ends nn,nn,dn -sd 2 -k 1,1,0.1
3d-lognormal-kz-0.01    -cells 64,64,64 -ends dd,nn,nn -sd 2 -k 1,1,0.01
3d-lognormal-flat-5     -cells 64,64,48 -ends dd,nn,nn -sd 2 -h 5,5,1
3d-lognormal-flat-20    -cells 64,64,48 -ends nn,nn,nn -sd 2 -h 20,20,1
3d-flat-20-kz-0.01      -cells 64,64,48 -ends dd,nn,nn -sd 2 -h 20,20,1 -k 1,1,0.01
3d-flat-5-two-lengths   -cells 70,60,48 -ends dn,nn,nn -sd 2 -h 5,10,1 -k 1,1,0.1
3d-layers-1e2           -cells 64,64,64 -layers 1:1e2
3d-layers-1e4           -cells 64,64,64 -ends dd,nn,nn -layers 3:1e4
3d-layers-flat          -cells 64,64,50 -ends dd,nn,nn -layers 1:1e4 -h 10,10,1 -k 1,1,0.1
3d-channels-1e3         -cells 64,64,48 -ends dd,nn,nn -region channels:16:5
3d-channels-1e6         -cells 64,64,48 -ends nn,dd,nn -region channels:12:3 -contrast 1e6
3d-channels-flat        -cells 60,110,40 -ends dd,nn,nn -region channels:16:5 -contrast 1e3 -sd 1.5 -length 8,8,1
                        -h 20,10,2 -k 1,1,0.1
3d-bodies-30            -cells 64,64,64 -ends nn,nn,dn -inactive bodies:0.3:12 -reaction 1e-6
3d-bodies-50            -cells 64,64,64 -ends nn,nn,dn -inactive bodies:0.5:12 -reaction 1e-6  KCYCLE_FILL
3d-bodies-70            -cells 64,64,64 -ends nn,nn,nn -inactive bodies:0.7:12 -reaction 1e-4
3d-bodies-lognormal     -cells 64,64,48 -ends nn,nn,nn -inactive bodies:0.4:16 -reaction 1e-5 -sd 2 -h 5,5,1 -k 1,1,0.1
3d-bodies-wells         -cells 70,70,40 -ends nn,nn,nn -inactive bodies:0.35:16 -reaction 1e-7 -sd 2 -penalty 1e3
                        -held wells:6
"""

# Some of them again, smaller and larger, and with a time step
SIZES = """
2d-mixed-50-150         -cells 150,150 -region mixed:0.5
2d-mixed-50-700         -cells 700,700 -region mixed:0.5
2d-lognormal-2-150      -cells 150,150 -sd 2 -length 10,10
2d-lognormal-2-700      -cells 700,700 -sd 2 -length 10,10
2d-checker-3-130        -cells 130,130 -region checker:3
2d-checker-3-700        -cells 700,700 -region checker:3
3d-mixed-50-30          -cells 30,30,30 -region mixed:0.5
3d-mixed-50-80          -cells 80,80,80 -region mixed:0.5
3d-scattered-32         -cells 32,32,32 -region scattered:60:4
3d-lognormal-2-32       -cells 32,32,32 -sd 2
3d-lognormal-2-80       -cells 80,80,80 -sd 2
3d-bodies-50-32         -cells 32,32,32 -ends nn,nn,dn -inactive bodies:0.5:12 -reaction 1e-6
2d-lognormal-3-step     -cells 400,400 -ends nn,nn -sd 3 -length 10,10 -reaction 1e-3
2d-mixed-50-step        -cells 400,400 -ends nn,nn -region mixed:0.5 -reaction 1e-2
3d-lognormal-3-step     -cells 64,64,64 -ends nn,nn,nn -sd 3 -reaction 1e-2
3d-mixed-50-step        -cells 60,60,60 -ends nn,nn,nn -region mixed:0.5 -reaction 1e-1
2d-bodies-30-step       -cells 400,400 -ends dn,nn -inactive bodies:0.3:20 -reaction 1e-2
3d-bodies-50-step       -cells 64,64,64 -ends nn,nn,dn -inactive bodies:0.5:12 -reaction 1e-2
3d-channels-step        -cells 64,64,48 -ends nn,nn,nn -region channels:16:5 -reaction 1e-3
"""

# Convection and diffusion, under GMRES
WIND = """
2d-x-1                  -cells 300,300 -wind constant -peclet 1
2d-angle-30-0.01        -cells 300,300 -wind constant -angle 30 -peclet 0.01                 KCYCLE_SKEW
2d-x-100                -cells 300,300 -wind constant -peclet 100
2d-y-100-neumann        -cells 300,280 -ends dd,dn -wind constant -angle 90 -peclet 100
2d-angle-15-10          -cells 300,300 -wind constant -angle 15 -peclet 10
2d-angle-30-2           -cells 300,300 -wind constant -angle 30 -peclet 2               KCYCLE_DRIFT KCYCLE_SKEW
2d-angle-45-100         -cells 300,300 -wind constant -angle 45 -peclet 100             KCYCLE_DRIFT
2d-angle-200-100        -cells 301,290 -ends nn,dd -wind constant -angle 200 -peclet 100
2d-hybrid-angle-30-1    -cells 300,300 -wind constant -angle 30 -peclet 1.5 -convection hybrid
2d-hybrid-angle-60-100  -cells 300,300 -wind constant -angle 60 -peclet 100 -convection hybrid
2d-periodic-angle-30    -cells 300,300 -ends pp,dd -wind constant -angle 30 -peclet 100
2d-eddy-1               -cells 300,300 -wind recirculating -peclet 1                    KCYCLE_SKEW
2d-eddy-10              -cells 300,300 -wind recirculating -peclet 10                   KCYCLE_KAPPA_CONVECTION
2d-eddy-100             -cells 300,300 -wind recirculating -peclet 100                  KCYCLE_DRIFT
                        KCYCLE_KAPPA_CONVECTION
2d-eddies-100           -cells 300,300 -wind recirculating:6 -peclet 100
2d-eddy-neumann-10      -cells 300,300 -ends dn,nn -wind recirculating -peclet 10
2d-eddies-periodic      -cells 300,300 -ends pp,pp -reaction 1e-4 -wind recirculating:4 -peclet 10
2d-channel-100          -cells 400,200 -ends dn,dd -wind parabolic -peclet 100
2d-layer-100            -cells 300,200 -ends dn,dn -wind layer:0.1 -peclet 100
2d-layer-stretched      -cells 300,200 -ends dn,dn -wind layer:0.1 -peclet 100 -stretch 1,1.05
2d-stirred-10           -cells 300,300 -wind stirred:30 -peclet 10
2d-stirred-100          -cells 300,300 -ends dd,dn -wind stirred:30 -peclet 100
2d-angle-30-jumps       -cells 300,300 -wind constant -angle 30 -peclet 10 -region balls:3:0.35 -contrast 1e-3
2d-eddy-lognormal       -cells 300,300 -wind recirculating -peclet 10 -sd 2 -length 10,10
2d-angle-30-step        -cells 300,300 -ends nn,nn -wind constant -angle 30 -peclet 100 -reaction 1 KCYCLE_DRIFT
3d-x-100                -cells 50,50,50 -wind constant -peclet 100
3d-z-100-neumann        -cells 50,48,50 -ends nn,nn,dn -wind constant -angle 0,90 -peclet 100
3d-angle-30-20-2        -cells 50,50,50 -wind constant -angle 30,20 -peclet 2
3d-angle-45-35-100      -cells 50,50,50 -wind constant -angle 45,35 -peclet 100
3d-periodic-100         -cells 50,50,50 -ends pp,pp,dd -wind constant -angle 30,20 -peclet 100
3d-hybrid-100           -cells 50,50,50 -wind constant -angle 60,10 -peclet 100 -convection hybrid
3d-eddy-1               -cells 50,50,50 -wind recirculating -peclet 1                   KCYCLE_SKEW
3d-eddy-10              -cells 50,50,50 -wind recirculating -peclet 10
3d-eddy-100             -cells 50,50,50 -wind recirculating -peclet 100
3d-eddies-100           -cells 50,50,50 -ends nn,dd,nn -wind recirculating:3 -peclet 100
3d-channel-100          -cells 64,48,40 -ends dn,pp,dd -wind parabolic -peclet 100
3d-layer-stretched      -cells 64,48,40 -ends dn,pp,dn -wind layer:0.1 -peclet 100 -stretch 1,1,1.1
3d-stirred-100          -cells 50,50,50 -wind stirred:10 -peclet 100
3d-eddy-lognormal       -cells 50,50,50 -wind recirculating -peclet 10 -sd 2 -length 10,10,2 KCYCLE_DRIFT
3d-angle-step           -cells 50,50,50 -ends dn,dn,dn -wind constant -angle 30,20 -peclet 100 -reaction 1
"""

# As in models of reservoirs and groundwater, and contrasts on stretched grids: none of the thresholds was made for
# these
RESERVOIR = """
2d-section              -cells 400,60 -ends nn,nn -sd 2.5 -length 20,3 -h 20,1 -k 1,0.1 -penalty 1e3 -held wells:4
2d-section-inactive     -cells 400,60 -ends nn,nn -sd 2 -length 20,3 -h 20,1 -k 1,0.1 -inactive bodies:0.4:20
                        -reaction 1e-8 -penalty 1e3 -held wells:4
2d-areal-step           -cells 350,330 -ends nn,nn -sd 3 -length 12,12 -reaction 1e-5
2d-stretched-1e6        -cells 300,300 -ends dd,nn -stretch 1.05,1.05 -fine middle -region bodies:0.3:10 -contrast 1e6
2d-stretched-lognormal  -cells 300,280 -ends nn,dn -stretch 1.1,1.03 -fine walls -sd 3 -length 8,8
2d-stretched-channels   -cells 300,300 -ends dd,nn -stretch 1.05,1.05 -fine walls -region channels:20:4 -contrast 1e6
2d-stretched-mixed      -cells 300,300 -stretch 1.03,1.03 -fine walls -region mixed:0.5 -contrast 1e6
2d-stretched-layers     -cells 300,300 -ends nn,dd -stretch 1.1,1 -fine middle -layers 5:1e6
2d-stretched-holes      -cells 300,300 -ends nn,dn -stretch 1.05,1.05 -fine low -inactive scattered:60:10 -reaction 1e-8
3d-cubes-sd-3           -cells 64,64,48 -ends nn,nn,nn -sd 3 -length 10,10,2 -penalty 1e3 -held wells:5
3d-model-20-kz-1         -cells 70,66,40 -ends nn,nn,nn -sd 2 -length 10,10,2 -h 20,20,1 -penalty 1e3 -held wells:5
3d-model-20-kz-0.1       -cells 70,66,40 -ends nn,nn,nn -sd 2 -length 10,10,2 -h 20,20,1 -k 1,1,0.1 -penalty 1e3
                        -held wells:5
3d-model-20-kz-0.01      -cells 70,66,40 -ends nn,nn,nn -sd 3 -length 10,10,2 -h 20,20,1 -k 1,1,0.01 -penalty 1e3
                        -held wells:5
3d-model-10-inactive-30  -cells 70,66,40 -ends nn,nn,nn -sd 2 -length 10,10,2 -h 10,10,1 -k 1,1,0.1
                        -inactive bodies:0.3:12 -reaction 1e-8 -penalty 1e3 -held wells:5
3d-model-20-inactive-50  -cells 70,66,40 -ends nn,nn,nn -sd 2 -length 10,10,2 -h 20,20,1 -k 1,1,0.1
                        -inactive bodies:0.5:12 -reaction 1e-8 -penalty 1e3 -held wells:5
3d-model-20-inactive-70  -cells 80,80,40 -ends nn,nn,nn -sd 1 -length 10,10,2 -h 20,20,1 -inactive bodies:0.7:16
                        -reaction 1e-7
3d-layers-inactive      -cells 64,64,50 -ends nn,nn,dn -layers 2:1e4 -h 10,10,1 -k 1,1,0.1 -inactive bodies:0.4:12
                        -reaction 1e-8
3d-channels-inactive    -cells 64,80,40 -ends nn,nn,nn -region channels:16:5 -contrast 1e4 -sd 1 -h 10,10,1
                        -inactive bodies:0.35:14 -reaction 1e-8 -penalty 1e3 -held wells:5
3d-step-flat            -cells 64,64,40 -ends nn,nn,nn -sd 3 -length 10,10,2 -h 20,20,1 -k 1,1,0.1 -reaction 1e-4
3d-two-lengths          -cells 64,64,48 -ends nn,nn,nn -sd 2 -h 3,15,1 -k 1,1,0.3 -penalty 1e3 -held wells:4
3d-1.02-middle          -cells 64,64,64 -stretch 1.02,1.02,1.02 -fine middle
3d-1.05-middle          -cells 64,64,64 -stretch 1.05,1.05,1.05 -fine middle
3d-1.2-middle           -cells 64,64,64 -stretch 1.2,1.2,1.2 -fine middle
3d-1.3-middle           -cells 64,64,64 -stretch 1.3,1.3,1.3 -fine middle
3d-1.2-walls-neumann    -cells 64,64,64 -ends nn,nn,dn -stretch 1.2,1.2,1.2 -fine walls  KCYCLE_PLANES_OTHERS
3d-1.2-two-middle       -cells 64,64,64 -ends nn,dd,nn -stretch 1.2,1.2,1 -fine middle
3d-1.3-one              -cells 64,64,64 -ends dd,nn,nn -stretch 1,1,1.3 -fine middle
3d-stretched-1e6        -cells 60,60,60 -ends dd,nn,nn -stretch 1.1,1.1,1.1 -fine walls -region bodies:0.3:8
                        -contrast 1e6  KCYCLE_PLANES_JUMPS
3d-stretched-lognormal  -cells 60,60,60 -ends nn,nn,dn -stretch 1.1,1.1,1.05 -fine walls -sd 2 -length 6,6,3
3d-stretched-layers     -cells 60,60,60 -ends nn,dd,nn -stretch 1.1,1.1,1 -fine middle -layers 3:1e6
3d-stretched-mixed      -cells 56,56,56 -stretch 1.05,1.05,1.05 -fine walls -region mixed:0.5 -contrast 1e3
3d-stretched-checker    -cells 53,58,68 -ends no,nd,pp -stretch 1.03,1.132,1.109 -fine low -region checker:7
                        -contrast 0.0146  KCYCLE_PLANES_JUMPS KCYCLE_PLANES_OTHERS
3d-stretched-balls      -cells 60,60,60 -ends nn,nn,dn -stretch 1.1,1.1,1.1 -fine middle -region balls:3:0.35
                        -contrast 1e6
"""

# Of the literature, see docs/reproduction.md; a foot is a unit of length
KNOWN = """
known-hpgmg             -cells 128,128,128 -bump 10 -source sines -image
known-spe10-lognormal   -cells 60,220,85 -h 20,10,2 -ends nn,nn,nn -sd 2 -length 8,16,2 -k 1,1,0.3 -penalty 1e6
                        -held corners -source injector
known-spe10-channels    -cells 60,220,85 -h 20,10,2 -ends nn,nn,nn -region channels_y:12:5 -contrast 1e3 -sd 1
                        -length 4,8,1 -k 1,1,0.3 -penalty 1e6 -held corners -source injector
known-taylor-green      -cells 128,96,128 -ends pp,nn,pp -stretch 1,1.05,1 -fine walls -source taylor_green
known-bubble-column     -cells 64,64,192 -ends nn,nn,nd -region scattered:60:9 -contrast 1000 -source rise
known-segmentation      -cells 768,768 -ends nn,nn -region scattered:24:110 -affinity 90:0.1 -penalty 1e3
                        -held wells:60 -source labels
known-segmentation-no-clusters -cells 768,768 -ends nn,nn -region scattered:24:110 -affinity 90:0.1 -penalty 1e3
                        -held wells:60 -source labels -mg_levels_pc_relax_clusters off
known-pore-space        -cells 112,112,112 -ends dd,nn,nn -inactive packing:4:1 -reaction 1e-8 -source inlet
known-pore-tight        -cells 112,112,112 -ends dd,nn,nn -region packing:4:1 -contrast 1e-6 -source inlet
"""

GROUPS = {"constant": CONSTANT, "ends": ENDS, "jumps": JUMPS, "reactions": REACTIONS, "anisotropy": ANISOTROPY,
          "stretched": STRETCHED,
          "fields": FIELDS, "reservoir": RESERVOIR, "sizes": SIZES, "wind": WIND,
          "known": KNOWN}


def read(group, text):
    """Lines that begin with blanks continue those before"""
    for line in text.strip().replace("\n ", " ").splitlines():
        name, *words = line.split()
        watches = [word for word in words if word.startswith("KC")]
        yield Case(name, group, [word for word in words if word not in watches], watches)


def matching(known, patterns, groups=()):
    """Of the cases KNOWN those of these names, with * and ?, and groups, if any are given"""
    return [case for case in known if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in patterns)
            and (not groups or case.group in groups)]


def cases():
    return [case for group, text in GROUPS.items() for case in read(group, text)]


def held_out(seed, number):
    """Problems that were never used for tuning: kinds of coefficients, grids, ends and contrasts at random"""
    draw = random.Random(seed)
    for m in range(number):
        dim = draw.choice((2, 3))
        sizes = [draw.randint(250, 450) for _ in range(2)] if dim == 2 else [draw.randint(40, 72) for _ in range(3)]
        ends = [draw.choice(("dd", "dn", "nd", "nn", "pp", "ss", "vv", "in", "no", "nn")) for _ in range(dim)]
        contrast = f"{10 ** draw.uniform(-6, 6):.3g}"
        length = [f"{10 ** draw.uniform(0, 1.5):.3g}" for _ in range(dim)]
        part = f"{draw.uniform(0.05, 0.9):.2f}"
        kinds = {
            "scattered": ["-region", f"scattered:{draw.randint(5, 200)}:{draw.uniform(1.5, sizes[0] / 8):.1f}",
                          "-contrast", contrast],
            "mixed": ["-region", f"mixed:{part}", "-contrast", contrast],
            "lognormal": ["-sd", f"{draw.uniform(0.5, 3.5):.2f}", "-length", ",".join(length)],
            "bodies": ["-region", f"bodies:{part}:{draw.uniform(3, 25):.0f}", "-contrast", contrast],
            "channels": ["-region", f"channels:{draw.randint(8, 30)}:{draw.uniform(1, 7):.1f}", "-contrast", contrast],
            "layers": ["-layers", f"{draw.randint(1, 8)}:{contrast}"],
            "rooms": ["-region", f"rooms:{draw.randint(7, 30)}:{draw.choice((0, 0.02, 0.1))}", "-contrast", contrast],
            "holes": ["-inactive", f"scattered:{draw.randint(5, 100)}:{draw.uniform(2, sizes[0] / 10):.1f}",
                      "-reaction", "1e-6"],
            "checker": ["-region", f"checker:{draw.randint(1, 9)}", "-contrast", contrast],
        }
        kind = draw.choice(list(kinds))
        grids = {
            "even": [],
            "flat": ["-h", ",".join(f"{10 ** draw.uniform(0, 1.2):.3g}" for _ in range(dim))],
            "stretched": ["-stretch", ",".join(f"{draw.uniform(1, 1.15):.3f}" for _ in range(dim)), "-fine",
                          draw.choice(("low", "walls", "middle"))],
        }
        grid = draw.choice(("even", "even", "flat", "stretched"))
        more = ["-reaction", f"{10 ** draw.uniform(-6, 2):.3g}"] if kind != "holes" and draw.random() < 0.25 else []
        yield Case(f"{dim}d-{kind}-{grid}-{m}", "held-out",
                   ["-cells", ",".join(map(str, sizes)), "-ends", ",".join(ends), "-seed", str(100 * seed + m),
                    *kinds[kind], *grids[grid], *more], [])


def smaller(options):
    """On a small grid: even numbers stay even, thin grids thin"""
    options = list(options)
    at = options.index("-cells") + 1
    cells = [int(word) for word in options[at].split(",")]
    factor = {1: 0.02, 2: 0.25, 3: 0.4}[len(cells)]
    options[at] = ",".join(str(n if n <= 30 else max(12, round(n * factor / 2) * 2) + n % 2) for n in cells)
    return options
