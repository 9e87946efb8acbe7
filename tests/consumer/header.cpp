// The public headers as C++ reads them.
#include <limber/base.h>
#include <limber/flesh.h>

extern "C" int HeaderWorksInCpp( void )
{
	lmbFleshPose pose = {};
	return pose.bones == nullptr ? LMB_VERSION_MINOR : -1;
}
