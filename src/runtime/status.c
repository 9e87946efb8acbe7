#include <limber/base.h>

const char *lmbStatus_Text( lmbStatus status )
{
	switch ( status )
	{
#define LMB_STATUS_CASE( name, value, text )                                                                 \
	case name:                                                                                               \
		return text;
		LMB_STATUS_LIST( LMB_STATUS_CASE )
#undef LMB_STATUS_CASE
	}
	return "unknown status";
}
