/* The loops of loops.h for one width: LOOP_SET its name, LOOP_BYTES of a vector, LOOP_TARGET an attribute. */
#define LOOP_JOIN2( name, set ) name##set
#define LOOP_JOIN( name, set ) LOOP_JOIN2( name, set )
#define LOOP_NAME( name ) LOOP_JOIN( name, LOOP_SET )
#define Vector LOOP_NAME( Vector )

typedef float Vector __attribute__( ( vector_size( LOOP_BYTES ), aligned( 4 ), may_alias ) );

LOOP_TARGET static float LOOP_NAME( Read )( const float *memory, size_t count )
{
	enum
	{
		lanes = LOOP_BYTES / 4,
		chains = 8
	};
	Vector sums[chains] = { { 0.0f } };
	for ( size_t i = 0; i + chains * lanes <= count; i += chains * lanes )
		for ( int k = 0; k < chains; ++k )
			sums[k] += *(const Vector *)( memory + i + (size_t)( k * lanes ) );
	float total = 0.0f;
	for ( int k = 0; k < chains; ++k )
		for ( int l = 0; l < lanes; ++l )
			total += sums[k][l];
	return total;
}

LOOP_TARGET static void LOOP_NAME( Move )( float *memory, size_t count, float s )
{
	enum
	{
		lanes = LOOP_BYTES / 4,
		chains = 4
	};
	for ( size_t i = 0; i + chains * lanes <= count; i += chains * lanes )
		for ( int k = 0; k < chains; ++k )
		{
			Vector *at = (Vector *)( memory + i + (size_t)( k * lanes ) );
			*at = *at * s + *at;
		}
}

LOOP_TARGET static float LOOP_NAME( Multiply )( long rounds )
{
	enum
	{
		lanes = LOOP_BYTES / 4
	};
	Vector sums[loopChains] = { { 0.0f } }, x[loopChains], factor = { 0.0f };
	for ( int k = 0; k < loopChains; ++k )
		x[k] = factor + (float)k;
	for ( long r = 0; r < rounds; ++r )
	{
		LOOP_HIDE( factor );
		for ( int k = 0; k < loopChains; ++k )
			sums[k] += x[k] * factor;
	}
	float total = 0.0f;
	for ( int k = 0; k < loopChains; ++k )
		for ( int l = 0; l < lanes; ++l )
			total += sums[k][l];
	return total;
}

LOOP_TARGET static void LOOP_NAME( Euler )( float *blocks, size_t blockCount, int substeps, float h )
{
	enum
	{
		lanes = LOOP_BYTES / 4
	};
	for ( size_t b = 0; b < blockCount; ++b )
		for ( int l = 0; l < lmbEulerLanes; l += lanes )
		{
			float *at = blocks + b * lmbEulerPlanes * lmbEulerLanes + (size_t)l;
			Vector hk = *(Vector *)at, keep = *(Vector *)( at + lmbEulerLanes ), ha[3], change[3], u[3], v[3];
			for ( int i = 0; i < 3; ++i )
			{
				ha[i] = *(Vector *)( at + ( 2 + i ) * lmbEulerLanes );
				change[i] = *(Vector *)( at + ( 5 + i ) * lmbEulerLanes );
				u[i] = *(Vector *)( at + ( 8 + i ) * lmbEulerLanes );
				v[i] = *(Vector *)( at + ( 11 + i ) * lmbEulerLanes );
			}
			for ( int s = 0; s < substeps; ++s )
				for ( int i = 0; i < 3; ++i )
				{
					v[i] = v[i] * keep - u[i] * hk - ha[i];
					u[i] += v[i] * h;
					ha[i] += change[i];
				}
			for ( int i = 0; i < 3; ++i )
			{
				*(Vector *)( at + ( 8 + i ) * lmbEulerLanes ) = u[i];
				*(Vector *)( at + ( 11 + i ) * lmbEulerLanes ) = v[i];
			}
		}
}

#undef Vector
#undef LOOP_NAME
#undef LOOP_JOIN
#undef LOOP_JOIN2
#undef LOOP_SET
#undef LOOP_BYTES
#undef LOOP_TARGET
