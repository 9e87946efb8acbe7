/* One HTML file with everything in it: nothing is fetched when it is opened. LIMBER_OUT is the folder. */
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig( {
	base: "./",
	logLevel: "warn",
	plugins: [viteSingleFile( { removeViteModuleLoader: true } )],
	build: {
		outDir: process.env.LIMBER_OUT,
		emptyOutDir: false,
		target: "es2022",
		chunkSizeWarningLimit: 4000,
	},
} );
