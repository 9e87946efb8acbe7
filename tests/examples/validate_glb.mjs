// Prints what the Khronos validator finds in glTF files; exit 1 when there is an error or a warning.
//     node validate_glb.mjs FILE...
import { readFileSync } from 'node:fs';
import validator from 'gltf-validator';

let sound = true;
for ( const path of process.argv.slice( 2 ) ) {

	const report = await validator.validateBytes( new Uint8Array( readFileSync( path ) ), { maxIssues: 20 } );
	const { numErrors, numWarnings, messages } = report.issues;
	console.log( `${ path }: ${ numErrors } errors, ${ numWarnings } warnings` );
	for ( const message of messages ) console.log( `  ${ message.code } ${ message.pointer ?? '' }: ${ message.message }` );
	sound &&= numErrors === 0 && numWarnings === 0;

}

process.exit( sound ? 0 : 1 );
