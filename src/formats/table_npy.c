#include "formats/table_private.h"

lmbStatus lmbTable_ReadNpy( lmbTable *table, const char *data, size_t size, lmbError *error )
{
	(void)data;
	(void)size;
	return lmbError_Set( error, lmb_statusUnsupported, "%s: .npy is not read yet; save it as CSV",
	                     table->path );
}

lmbStatus lmbTable_ReadNpz( lmbTable *table, const lmbTableDef *def, const char *data, size_t size,
                            lmbError *error )
{
	(void)def;
	return lmbTable_ReadNpy( table, data, size, error );
}
