/*
  Tridiagonal systems, KC_SYSTEMS of them side by side: number s of point i is at i * KC_SYSTEMS + s.
*/
#include <petsckcycle/private/kernelimpl.h>

/*
  T = L D U in place: from the coefficients lower, diagonal and upper to those of L, 1 / D and those of U. A pivot that
  is nothing but rounding, by the epsilon of the numbers, belongs to a singular system, such as that of points without
  couplings to others: there 1 / D is 0, so that systems with a solution get one of them.
*/
KC_VERSIONS void KCycleTridiagonalFactor(PetscInt n, PetscReal epsilon, KCScalar *KC_RESTRICT lower,
                                         KCScalar *KC_RESTRICT diagonal, KCScalar *KC_RESTRICT upper)
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal bound = 4 * (i + 1) * epsilon;

    for (PetscInt s = i * KC_SYSTEMS; s < (i + 1) * KC_SYSTEMS; s++) {
      const KCScalar d = diagonal[s];
      KCScalar       p = d;

      if (i) {
        p -= lower[s] * upper[s - KC_SYSTEMS];
        lower[s] *= diagonal[s - KC_SYSTEMS];
      }
      diagonal[s] = KCycleSquare(p) > bound * bound * KCycleSquare(d) ? (KCScalar)1.0 / p : (KCScalar)0.0;
      upper[s] *= diagonal[s];
    }
  }
}

/* y <- T^-1 y */
KC_VERSIONS void KCycleTridiagonalSolve(PetscInt n, const KCScalar *KC_RESTRICT lower,
                                        const KCScalar *KC_RESTRICT inverse, const KCScalar *KC_RESTRICT upper,
                                        KCScalar *KC_RESTRICT y)
{
  KCScalar last[KC_SYSTEMS];

  for (int s = 0; s < KC_SYSTEMS; s++) last[s] = 0;
  for (PetscInt i = 0; i < n; i++, lower += KC_SYSTEMS, inverse += KC_SYSTEMS, upper += KC_SYSTEMS, y += KC_SYSTEMS) {
    for (int s = 0; s < KC_SYSTEMS; s++) {
      last[s] = y[s] - lower[s] * last[s];
      y[s]    = last[s] * inverse[s];
    }
  }
  for (int s = 0; s < KC_SYSTEMS; s++) last[s] = 0;
  for (PetscInt i = n - 1; i >= 0; i--) {
    upper -= KC_SYSTEMS;
    y -= KC_SYSTEMS;
    for (int s = 0; s < KC_SYSTEMS; s++) y[s] = last[s] = y[s] - upper[s] * last[s];
  }
}
