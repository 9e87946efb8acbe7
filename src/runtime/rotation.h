/* Rotations in double: unit quaternions xyzw and row-major 3x3 matrices. */
#ifndef LMB_RUNTIME_ROTATION_H
#define LMB_RUNTIME_ROTATION_H

/* In place; a zero quaternion becomes the identity. */
void lmbQuaternion_Normalize( double *q );

/* The 3x3 rotation of a unit quaternion. */
void lmbQuaternion_ToMatrix( const double *q, double *m );

/* The unit quaternion of the rotation R nearest to a 3x3 matrix M: the largest trace of R^T M. That is the
 * polar factor where the determinant is positive. It is proper for every M; where several are as near (a
 * mirror, a matrix flattened to a line) it is the one that turns least; entries whose squares leave the
 * range of double give no turn. Work is bounded. */
void lmbQuaternion_Nearest( const double *m, double *q );

#endif
