// A headless Chromium with a page in it that may not say a word to its console nor ask for anything elsewhere, and
// checks that print what was expected and go on.
import { chromium } from "playwright-core";

let failures = 0;

export function check( truth, what )
{
	if ( truth )
		return;
	console.error( `failed: ${what}` );
	failures += 1;
}

export function near( value, expected, tolerance, what )
{
	check( Math.abs( value - expected ) <= tolerance, `${what}: ${value}, expected ${expected} within ${tolerance}` );
}

export const failed = () => failures;

export async function launch()
{
	// --no-sandbox: containers often let no process make namespaces; only our own page is opened.
	return chromium.launch( { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] } );
}

/* Opens url and waits until it is loaded. allowed: the start of what it may ask for besides data: and blob:. */
export async function open( browser, url, { allowed = url, ready = true, ...context } = {} )
{
	const page = await ( await browser.newContext( { viewport: { width: 900, height: 560 }, deviceScaleFactor: 0.5, ...context } ) ).newPage();
	page.setDefaultTimeout( 20000 );
	page.on( "console", ( message ) =>
	{
		// Chromium itself warns that it draws without a graphics card.
		check( !["error", "warning"].includes( message.type() ) || /GPU stall|GL Driver Message|software/i.test( message.text() ),
			`${url}: nothing on the console, but: ${message.text()}` );
	} );
	page.on( "pageerror", ( error ) => check( false, `${url}: no error, but: ${error.stack}` ) );
	page.on( "request", ( request ) => check( /^(data|blob):/.test( request.url() ) || request.url().startsWith( allowed ),
		`${url}: nothing is fetched from elsewhere, but: ${request.url().slice( 0, 200 )}` ) );
	await page.goto( url );
	if ( ready )
		await page.waitForFunction( () => globalThis.limber?.player != null && document.getElementById( "message" ).hidden );
	return page;
}

/* Floats of a typed array expression in the page, as bytes. */
export async function bytes( page, expression )
{
	return Buffer.from( await page.evaluate( `(() => { const a = ${expression}; const b = new Uint8Array( a.buffer, a.byteOffset, a.byteLength );
		let s = ""; for ( let i = 0; i < b.length; i += 32768 ) s += String.fromCharCode( ...b.subarray( i, i + 32768 ) ); return btoa( s ); })()` ), "base64" );
}
