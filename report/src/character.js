/* A character: how near its model is to the simulation that taught it. */
import { Body, gradient } from "./body.js";
import { chart, colourOf, line, style } from "./chart.js";
import { cell, choose, format, make, mark, section } from "./dom.js";
import { showRest } from "./rest.js";

const columns = ["skinning", "network", "instant", "vertex", "modal_unfitted", "modal", "hybrid"];
const layers = columns.slice( 2 );
const measures = [
	["rms_mm", "distance to the simulation [mm]"], ["still_rms_mm", "distance to the shape at rest [mm]"],
	["captured_exact", "captured_exact"], ["dynamic_share", "dynamic_share"], ["captured", "captured"],
];

function kindOf( trained )
{
	return trained ? "trained" : "held out";
}

/* Trained motions before held-out ones, as the command prints them. */
function motionsOf( metrics )
{
	const names = Object.keys( metrics.motions );
	return [...names.filter( ( name ) => metrics.motions[name].trained ),
		...names.filter( ( name ) => !metrics.motions[name].trained )];
}

function showNumbers( page, metrics, names )
{
	const place = section( page, "numbers", "The numbers",
		"Root mean square distances over the soft skin and all frames. Shares: captured_exact is how much of the dynamics "
		+ "the springs reproduce when the shapes at rest are perfect, dynamic_share how much they reproduce as shipped, "
		+ "captured how much of the network's squared error they take away in the end; 1 is all of it. Below 0 a layer does harm. "
		+ "Point at a number to see it whole." );
	const table = make( "table", { id: "numbers-table" }, make( "thead", {}, make( "tr", {},
		make( "th", { scope: "col" }, "" ), ...columns.map( ( name ) => make( "th", { scope: "col" }, name ) ) ) ) );
	for ( const name of names )
	{
		const motion = metrics.motions[name], at = ( ...keys ) => ["motions", name, ...keys];
		const facts = [mark( make( "span" ), at( "trained" ), motion.trained )];
		const say = ( key, before, after ) =>
		{
			if ( motion[key] !== undefined )
				facts.push( before, mark( make( "span", {}, format( motion[key] ) ), at( key ), motion[key] ), after );
		};
		say( "frames", `: ${kindOf( motion.trained )}, `, " frames" );
		say( "frames_skipped", ", ", " left out" );
		say( "rate_hz", ", ", " Hz" );
		say( "dynamics_rms_mm", "; dynamics ", " mm" );
		say( "captured_cap", "; captured is at most about ", "" );
		const body = make( "tbody", {}, make( "tr", { class: "head" },
			make( "th", { colSpan: columns.length + 1, scope: "colgroup" }, name, ...facts ) ) );
		for ( const [key, label] of measures )
			body.append( make( "tr", {}, make( "th", { scope: "row" }, label ),
				...columns.map( ( column ) => cell( metrics, at( key, column ) ) ) ) );
		table.append( body );
	}
	place.append( make( "div", { class: "scroll" }, table ) );
}

function showTime( page, state )
{
	const place = section( page, "time", "Distance over time",
		"Root mean square over the soft skin, frame by frame; \"dynamics\" is what there is to capture: the distance of the "
		+ "simulation from its own shape at rest. A layer below the network takes away error, one above it adds some. "
		+ "Click a name to hide it; drag the bar below, or Ctrl and the wheel, to zoom." );
	return [chart( place, "Distance to the simulation over time", () =>
	{
		const motion = state.details.motions[state.motion], rate = state.metrics.motions[state.motion].rate_hz;
		const points = ( values ) => values.map( ( value, i ) => [i / rate, value] );
		return {
			x: { type: "value", name: "time [s]", max: ( motion.judged.length - 1 ) / rate },
			y: { type: "value", name: "distance [mm]", min: 0 },
			tooltip: { valueFormatter: ( value ) => value === null ? "–" : `${format( value )} mm` },
			series: [...columns.filter( ( name ) => motion.rms_mm[name] !== undefined )
				.map( ( name ) => line( name, points( motion.rms_mm[name] ) ) ),
			line( "dynamics", points( motion.dynamics_mm ), { lineStyle: { color: style( "--faint" ), width: 1, type: "dotted" } } )],
		};
	}, { zoom: true } )];
}

function barOf( share )
{
	return share === undefined ? null : Math.max( share, -0.5 );
}

function showCaptured( page, state, names )
{
	const place = section( page, "captured", "Captured share",
		"One bar for each layer of springs. The page draws shares below -0.5 as -0.5; the table has them whole." );
	const controls = make( "div" );
	place.append( controls );
	const plot = chart( place, "Captured share by motion and layer", () => ( {
		x: { type: "category", data: names.map( ( name ) => `${name}\n(${kindOf( state.metrics.motions[name].trained )})` ),
			name: "", axisLabel: { interval: 0, width: 100, overflow: "truncate", lineHeight: 15, hideOverlap: false } },
		y: { type: "value", name: state.share, max: 1, min: ( { min } ) => Math.min( 0, Math.max( -0.5, Math.floor( 10 * min ) / 10 ) ) },
		tooltip: { valueFormatter: ( value ) => value === null ? "–" : format( value ) },
		series: layers.filter( ( layer ) => names.some( ( name ) => state.metrics.motions[name][state.share][layer] !== undefined ) )
			.map( ( layer ) => ( { name: layer, type: "bar", itemStyle: { color: colourOf( layer ) },
				data: names.map( ( name ) => barOf( state.metrics.motions[name][state.share][layer] ) ) } ) ),
	} ) );
	controls.append( choose( "share", "share", ["captured", "dynamic_share", "captured_exact"].map( ( key ) => [key, key] ),
		( value ) =>
		{
			state.share = value;
			plot.update();
		} ) );
	return [];
}

/* The value below which each share of the judged vertices lies. */
function spread( values, judged )
{
	const sorted = values.filter( ( value, v ) => judged[v] === 1 && value !== null ).sort( ( a, b ) => a - b );
	const points = [];
	for ( let share = 0; share <= 100 && sorted.length > 0; ++share )
		points.push( [share, sorted[Math.round( share / 100 * ( sorted.length - 1 ) )]] );
	return points;
}

function showSpread( page, state )
{
	const place = section( page, "spread", "How the error is spread over the skin",
		"Each vertex's root mean square distance over the motion, sorted: at 90 on the lower axis, nine tenths of the soft skin "
		+ "is nearer than the height of the line." );
	return [chart( place, "Distribution of the distance over vertices", () =>
	{
		const motion = state.details.motions[state.motion];
		return {
			x: { type: "value", name: "share of the soft skin [%]", min: 0, max: 100 },
			y: { type: "value", name: "distance [mm]", min: 0 },
			tooltip: { valueFormatter: ( value ) => value === null ? "–" : `${format( value )} mm` },
			series: columns.filter( ( name ) => motion.vertex_rms_mm[name] !== undefined )
				.map( ( name ) => line( name, spread( motion.vertex_rms_mm[name], state.details.body.judged ) ) ),
		};
	} )];
}

/* What the body can be painted with: [key, text, unit, logarithmic, values()]. */
function quantities( state )
{
	const { springs } = state.details, motion = () => state.details.motions[state.motion];
	const out = [];
	for ( const name of columns )
		if ( motion().vertex_rms_mm[name] !== undefined )
			out.push( [`rms ${name}`, `distance of ${name}`, "mm", false, () => motion().vertex_rms_mm[name]] );
	out.push( ["dynamics", "dynamics of the simulation", "mm", false, () => motion().vertex_dynamics_mm] );
	for ( const [kind, text] of [["vertex", "one spring for each vertex"], ["remainder", "hybrid's springs on the rest"]] )
	{
		const k = springs[`${kind}_stiffness`], c = springs[`${kind}_damping`];
		if ( k === undefined || c === undefined )
			continue;
		out.push( [`${kind} stiffness`, `stiffness k, ${text}`, "1/s²", true, () => k] );
		out.push( [`${kind} damping`, `damping c, ${text}`, "1/s", true, () => c] );
		out.push( [`${kind} ratio`, `damping ratio c / 2√k (1 is critical), ${text}`, "", true,
			() => k.map( ( value, v ) => c[v] / ( 2 * Math.sqrt( value ) ) )] );
	}
	return out;
}

function showBody( page, state )
{
	const place = section( page, "body", "On the body",
		"Front and back in the pose of binding; drag, or use the arrow keys, to turn. Grey parts are not judged. The scale runs "
		+ "from the 2nd to the 98th percentile of what is judged." );
	const all = quantities( state ), legend = make( "div", { class: "legend" } ), pictures = make( "div", { class: "bodies" } );
	const best = layers.findLast( ( name ) => all.some( ( [key] ) => key === `rms ${name}` ) );
	state.quantity = best !== undefined ? `rms ${best}` : all[0][0];
	const bodies = [new Body( pictures, "The body from the front", state.details.body, 0 ),
		new Body( pictures, "The body from the back", state.details.body, Math.PI )];
	const update = () =>
	{
		const [, , unit, logarithmic, values] = all.find( ( [key] ) => key === state.quantity );
		const judged = state.details.body.judged;
		const scaled = values().map( ( value, v ) =>
			judged[v] === 1 && value !== null && ( !logarithmic || value > 0 ) ? ( logarithmic ? Math.log10( value ) : value ) : null );
		const sorted = scaled.filter( ( value ) => value !== null ).sort( ( a, b ) => a - b );
		const at = ( share ) => sorted[Math.round( share * ( sorted.length - 1 ) )] ?? 0;
		const low = logarithmic ? at( 0.02 ) : 0, high = Math.max( at( 0.98 ), low + 1e-9 );
		const show = ( value ) => `${format( Number( ( logarithmic ? 10 ** value : value ).toPrecision( 3 ) ) )} ${unit}`;
		const bar = make( "i" );
		bar.style.background = gradient;
		legend.replaceChildren( show( low ), bar, show( high ), logarithmic ? "(logarithmic)" : "" );
		for ( const body of bodies )
			body.paint( scaled.map( ( value ) => value === null ? null : ( value - low ) / ( high - low ) ) );
	};
	const control = choose( "quantity", "show", all.map( ( [key, text] ) => [key, text] ), ( value ) =>
	{
		state.quantity = value;
		update();
	} );
	control.querySelector( "select" ).value = state.quantity;
	place.append( control, pictures, legend );
	update();
	matchMedia( "screen and (prefers-color-scheme: dark)" ).addEventListener( "change", update );
	return [{ update }];
}

function showPaths( page, state )
{
	const place = section( page, "paths", "Paths of single vertices",
		"The vertices that dynamics moves most in this motion, at least a tenth of the body apart: how far they are from where "
		+ "skinning has them, along the direction in which dynamics moves them most (the scene's axes). \"at_rest\" is the "
		+ "simulation's shape if the pose stood still." );
	const pair = make( "div", { class: "pair" } );
	place.append( pair );
	const most = Math.max( 0, ...Object.values( state.details.motions ).map( ( motion ) => motion.tracks.length ) );
	const updates = [];
	for ( let i = 0; i < most; ++i )
	{
		const block = make( "div" ), title = make( "h3" );
		block.append( title );
		pair.append( block );
		const plot = chart( block, `Path of vertex ${i + 1}`, () =>
		{
			const track = state.details.motions[state.motion].tracks[i], rate = state.metrics.motions[state.motion].rate_hz;
			title.textContent = track === undefined ? ""
				: `Vertex ${track.vertex}, along (${track.direction.map( ( value ) => value.toFixed( 2 ) ).join( ", " )})`;
			const paths = track?.path_mm ?? {};
			return {
				x: { type: "value", name: "time [s]", max: ( state.details.motions[state.motion].judged.length - 1 ) / rate },
				y: { type: "value", name: "from skinning [mm]" },
				tooltip: { valueFormatter: ( value ) => value === null ? "–" : `${format( value )} mm` },
				series: ["simulation", "at_rest", ...columns.slice( 1 )].filter( ( name ) => paths[name] !== undefined )
					.map( ( name ) => line( name, paths[name].map( ( value, f ) => [f / rate, value] ) ) ),
			};
		}, { low: true, zoom: true, group: "paths" } );
		updates.push( plot );
	}
	return updates;
}

function showModes( page, state )
{
	const { springs } = state.details, pairs = ( k, c ) => k.map( ( value, m ) =>
		[Math.sqrt( value ) / ( 2 * Math.PI ), c[m] / ( 2 * Math.sqrt( value ) ), m + 1] );
	const sets = [];
	if ( springs.mode_stiffness_unfitted !== undefined )
		sets.push( ["as the tissue says", pairs( springs.mode_stiffness_unfitted, springs.mode_damping_unfitted ), "emptyCircle", "modal_unfitted"] );
	if ( springs.mode_stiffness !== undefined )
		sets.push( ["fitted", pairs( springs.mode_stiffness, springs.mode_damping ), "circle", "modal"] );
	if ( sets.length === 0 )
		return;
	const place = section( page, "modes", "Springs of the vibration modes",
		"Each mode of the tissue is one spring: its frequency, and its damping as a share of the critical one." );
	chart( place, "Frequency and damping ratio of modes", () => ( {
		x: { type: "value", name: "frequency [Hz]", scale: true },
		y: { type: "value", name: "damping ratio", min: 0 },
		tooltip: { trigger: "item", formatter: ( { seriesName, value } ) =>
			`${seriesName}: mode ${value[2]}, ${format( value[0] )} Hz, ratio ${format( value[1] )}` },
		series: sets.map( ( [name, data, symbol, colour] ) => ( { name, type: "scatter", data, symbol, symbolSize: 8,
			itemStyle: { color: colourOf( colour ) } } ) ),
	} ) );
}

export function showCharacter( page, metrics, details )
{
	const names = motionsOf( metrics );
	const state = { metrics, details, motion: names.find( ( name ) => !metrics.motions[name].trained ) ?? names[0],
		share: "captured" };
	const skin = metrics.soft_skin, at = ( key ) => mark( make( "span", {}, String( skin[key] ) ), ["soft_skin", key], skin[key] );
	page.append( make( "h1", {}, details.name ), make( "p", {},
		"How near the model is to the simulation that taught it, over the soft skin: ", at( "judged_vertices" ), " of ",
		at( "vertices" ), " vertices. The network gives the shape at rest, springs add the dynamics; both run as they ship." ) );
	if ( names.length === 0 )
		return showRest( page, metrics, ["soft_skin", "motions"] );
	const views = [];
	const controls = make( "nav", { class: "controls", "aria-label": "Choice of the motion" }, choose( "motion", "motion",
		names.map( ( name ) => [name, `${name} (${kindOf( metrics.motions[name].trained )})`] ), ( value ) =>
		{
			state.motion = value;
			for ( const view of views )
				view.update();
		} ) );
	controls.querySelector( "select" ).value = state.motion;
	page.append( controls );
	views.push( ...showTime( page, state ), ...showCaptured( page, state, names ) );
	showNumbers( page, metrics, names );
	views.push( ...showPaths( page, state ), ...showSpread( page, state ), ...showBody( page, state ) );
	showModes( page, state );
	showRest( page, metrics, ["soft_skin", "motions"] );
}
