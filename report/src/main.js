/* The page of `limber evaluate --report`. The command puts metrics.json and evaluation.json into it, byte for byte
 * but for "<", which is written as an escape. */
import "./style.css";
import { followThePage } from "./chart.js";
import { make } from "./dom.js";
import { showCharacter } from "./character.js";
import { showLimb } from "./limb.js";

function read( id )
{
	const element = document.getElementById( id );
	return element === null ? null : JSON.parse( element.textContent );
}

function main()
{
	const page = document.getElementById( "page" );
	const metrics = read( "limber-metrics" ), details = read( "limber-evaluation" );
	if ( metrics === null || details === null )
	{
		page.append( make( "p", { class: "failure" },
			"This page has no data: limber evaluate PROJECT --report FILE writes one that has." ) );
		return;
	}
	document.title = `${details.name}: Limber report`;
	( details.kind === "limb" ? showLimb : showCharacter )( page, metrics, details );
	followThePage();
	document.documentElement.dataset.ready = "yes";
}

main();
