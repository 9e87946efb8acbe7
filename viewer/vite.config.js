/* One HTML file with everything in it: nothing is fetched when it is opened. LIMBER_WASM names the compiled
 * runtime, LIMBER_PAGE the page (index or limb), LIMBER_OUT the folder for viewer.html or limb.html. */
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

/* import base64 from "limber-runtime": the compiled runtime. */
function runtime()
{
	const id = "\0limber-runtime";
	return {
		name: "limber-runtime",
		resolveId: ( source ) => source === "limber-runtime" ? id : null,
		load: ( source ) => source === id
			? `export default "${readFileSync( process.env.LIMBER_WASM ).toString( "base64" )}";` : null,
	};
}

/* Puts the script and the style into the page, behind the place for data. */
function inline()
{
	return {
		name: "limber-inline",
		enforce: "post",
		generateBundle( _, bundle )
		{
			const page = Object.values( bundle ).find( ( file ) => file.fileName.endsWith( ".html" ) );
			for ( const file of Object.values( bundle ) )
			{
				if ( file === page )
					continue;
				const text = file.type === "chunk" ? file.code : String( file.source );
				const pattern = file.type === "chunk"
					? new RegExp( `<script[^>]*src="[^"]*${file.fileName}"[^>]*></script>` )
					: new RegExp( `<link[^>]*href="[^"]*${file.fileName}"[^>]*>` );
				if ( !pattern.test( page.source ) )
					throw new Error( `${file.fileName} is in the bundle, but not in the page` );
				// The script goes to the end: it reads the data that come before it.
				page.source = file.type === "chunk"
					? page.source.replace( pattern, "" ).replace( "</body>", () =>
						`<script type="module">${text.replaceAll( "</script", "<\\/script" )}</script>\n</body>` )
					: page.source.replace( pattern, () => `<style>${text}</style>` );
				delete bundle[file.fileName];
			}
			page.fileName = process.env.LIMBER_PAGE === "limb" ? "limb.html" : "viewer.html";
		},
	};
}

export default defineConfig( {
	base: "./",
	logLevel: "warn",
	plugins: [runtime(), inline()],
	build: {
		rollupOptions: { input: `${process.env.LIMBER_PAGE}.html` },
		outDir: process.env.LIMBER_OUT,
		emptyOutDir: false,
		target: "es2022",
		modulePreload: false,
		cssCodeSplit: false,
		assetsInlineLimit: 1e8,
		chunkSizeWarningLimit: 4000,
	},
} );
