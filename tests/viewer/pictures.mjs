// Pictures of the page for the README and the guide.
//   node pictures.mjs FOLDER_WITH_PAGES OUT
import { launch, open } from "./browser.mjs";

const [pages, out] = process.argv.slice( 2 );
const browser = await launch();

/* The page at a moment of the motion, after act( page ). */
async function picture( name, html, { time, act = async () => {}, width = 1000, height = 620, ...context } )
{
	const page = await open( browser, `file://${pages}/${html}`, { viewport: { width, height }, deviceScaleFactor: 1, ...context } );
	await page.click( "#play" );
	await act( page );
	await page.evaluate( ( t ) => { limber.seek( t ); document.activeElement.blur(); }, time );
	await page.waitForTimeout( 300 );
	await page.screenshot( { path: `${out}/${name}.png` } );
	await page.context().close();
}

await picture( "view", "puppet.html", { time: 2.3 } );
await picture( "view-inside", "puppet.html", { time: 2.0, colorScheme: "dark", act: async ( page ) =>
{
	await page.uncheck( "[data-column=skinning]" );
	await page.check( "#bones" );
	await page.check( "#lattice" );
	await page.selectOption( "#colour", "discriminant" );
	await page.locator( "#motion" ).scrollIntoViewIfNeeded();
} } );
await picture( "view-rates", "puppet.html", { time: 1.2, act: async ( page ) =>
{
	await page.uncheck( "[data-column=skinning]" );
	await page.uncheck( "[data-column=truth]" );
	await page.check( "[data-column=perFrame]" );
	await page.selectOption( "#colour", "swing" );
	await page.click( "#compare" );
	await page.locator( "#comparison" ).waitFor( { timeout: 120000 } );
	await page.locator( '#rates label:has([value="15"])' ).click();
	await page.locator( "#compare-key" ).scrollIntoViewIfNeeded();
} } );
await picture( "view-limb", "arm.html", { time: 1.6, act: async ( page ) =>
{
	await page.evaluate( () => limber.seek( 1.2 ) );
	await page.click( "#pulse-1" );
} } );
await browser.close();
