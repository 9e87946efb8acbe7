// Khronos glTF validator: node validate.mjs FILE... ; exit 1 when a file has an error. Warnings are
// printed and let pass: most come along from the character's own file.
import { readFileSync } from 'node:fs';
import validator from 'gltf-validator';

let failed = false;
for ( const file of process.argv.slice( 2 ) ) {

	const report = await validator.validateBytes( new Uint8Array( readFileSync( file ) ), { maxIssues: 1000 } );
	const { numErrors, numWarnings, messages } = report.issues;
	console.log( `${ file }: ${ numErrors } errors, ${ numWarnings } warnings` );
	const seen = new Map();
	for ( const { severity, code, message, pointer } of messages ) {

		if ( severity > 1 ) continue;
		const count = seen.get( code ) ?? 0;
		seen.set( code, count + 1 );
		if ( count < 3 ) console.log( `  ${ [ 'error', 'warning' ][ severity ] } ${ code } ${ pointer }: ${ message }` );

	}

	failed ||= numErrors > 0;

}

process.exit( failed ? 1 : 0 );
