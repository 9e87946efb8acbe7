/* What the files of the network and of its training share. */
#ifndef LMB_FLESH_NETWORK_PARTS_H
#define LMB_FLESH_NETWORK_PARTS_H

#include "flesh/network.h"

enum
{
	lmbRootFeatures = 3,
	lmbJointFeatures = 9,
	lmbCoefficientsMax = 64, /* of one region */
	lmbHiddenMax = 1024,
	lmbHiddenLayersMax = 4,
	lmbRegionFeaturesMax = 4096
};

/* One region alone: features is the pose's whole feature vector. */
void lmbRegion_Coefficients( const lmbRegion *region, const double *features, double *coefficients );

/* Inputs and outputs of dense layer `layer` of a region's perceptron. */
static inline int lmbRegion_LayerInputs( const lmbRegion *region, int layer )
{
	return layer == 0 ? region->featureCount : region->hiddenCount;
}

static inline int lmbRegion_LayerOutputs( const lmbRegion *region, int layer )
{
	return layer == region->layerCount - 1 ? region->coefficientCount : region->hiddenCount;
}

/* Arrays of a region whose counts are set; false when there is no memory. */
bool lmbRegion_Allocate( lmbRegion *region, lmbArena *arena );

/* The file of a network, or of the regions that a training has finished: format tells which, mark
 * (Nullable) is one string that must match on loading. */
lmbStatus lmbNetworkFile_Write( const lmbNetwork *network, const char *path, const char *format,
                                const char *mark, lmbError *error );
/* mark (Nullable): lmb_statusNotFound when the file carries another. */
lmbStatus lmbNetworkFile_Load( const char *path, const char *format, const char *mark, lmbNetwork **out,
                               lmbError *error );

#endif
