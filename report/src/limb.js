/* A limb: how far models stay with the truth when they are left alone with the inputs. */
import { chart, colourOf, line, style } from "./chart.js";
import { cell, choose, decades, format, make, mark, section } from "./dom.js";
import { rows, showRest } from "./rest.js";

const meanings = {
	held_out: "motions like those that were learned from, none of which trained a model or stopped its training",
	novel_velocity: "starts with velocities that training did not have",
	novel_posture: "starts in postures that training did not have",
	pulse: "motions with a pulse of torque at one joint, which training did not have",
	half_rate: "the held-out motions at half the sampling rate",
	double_rate: "the held-out motions at twice the sampling rate",
	noise: "held-out motions; trained on angles with noise",
};
const numbers = [
	[["rmse_deg_1s", "median"], "1 s, median"], [["rmse_deg_1s", "mean"], "mean"], [["rmse_deg_5s", "median"], "5 s, median"],
	[["rmse_deg_5s", "mean"], "mean"], [["rmse_deg_10s", "median"], "10 s, median"], [["rmse_deg_10s", "mean"], "mean"],
	[["rmse_deg_judged", "median"], "judged, median"], [["rmse_deg_judged", "mean"], "mean"], [["rmse_deg_whole", "median"], "whole, median"],
	[["rmse_deg_whole", "mean"], "mean"], [["valid_s", "median"], "valid [s], median"], [["valid_s", "mean"], "mean"], [["diverged"], "diverged"],
	[["interaction_torque_error"], "interaction torque"], [["trust_rank_correlation"], "trust ranks"], [["motions"], "motions"],
];

function meaningOf( test )
{
	if ( test.startsWith( "samples_" ) )
		return `held-out motions; trained on ${test.slice( 8 )} samples only`;
	return Object.hasOwn( meanings, test ) ? meanings[test] : "";
}

function showHeldOut( page, metrics )
{
	const names = metrics.held_out_motions ?? [];
	const list = make( "ul", { class: "columns" } );
	names.forEach( ( name, i ) => list.append( mark( make( "li", {}, name ), ["held_out_motions", i], name ) ) );
	page.append( make( "details", { id: "held-out" }, make( "summary", {},
		`${names.length} motions were held out: none of them trained a model or stopped its training` ), list ) );
}

function showTable( page, metrics )
{
	const place = section( page, "numbers", "Models and tests",
		"Root mean square error of the joint angles in degrees, at that time, of roll-outs that start in the truth's first state (with evaluate.fit_start, in one fitted to its first moments) and "
		+ "get its inputs, nothing else. Whole: over all samples. Valid: until the squares of all joints' errors add up to 0.01 rad². Diverged: the share of roll-outs in which a joint was 180 degrees off; they stay in every mean. "
		+ "Interaction torque: relative error of the torque that a pulse at one joint causes at the other. Trust ranks: rank "
		+ "correlation of the model's own score with its error. Rows \"truth\" and \"known_terms\" are equations, not networks." );
	const models = Object.keys( metrics.models ), tests = Object.keys( metrics.tests );
	const used = numbers.filter( ( [path] ) => models.some( ( model ) => tests.some( ( test ) =>
		path.reduce( ( value, key ) => value?.[key], metrics.models[model].tests[test] ) !== undefined ) ) );
	const table = make( "table", { id: "numbers-table" }, make( "thead", {}, make( "tr", {},
		make( "th", { scope: "col" }, "" ), ...used.map( ( [, label] ) => make( "th", { scope: "col" }, label ) ) ) ) );
	for ( const test of tests )
	{
		const facts = [], about = metrics.tests[test];
		const say = ( key, before, after ) =>
		{
			if ( about[key] !== undefined )
				facts.push( before, mark( make( "span", {}, format( about[key] ) ), ["tests", test, key], about[key] ), after );
		};
		say( "motions", ": ", " motions" );
		say( "duration_s", " of ", " s" );
		say( "rate_hz", " at ", " Hz" );
		say( "amplification_1s", "; the plant itself multiplies an error by ", " in 1 s" );
		say( "amplification_5s", ", ", " in 5 s" );
		say( "amplification_10s", ", ", " in 10 s" );
		say( "judged_s", "; judged at ", " s (median)" );
		const body = make( "tbody", {}, make( "tr", { class: "head" },
			make( "th", { colSpan: used.length + 1, scope: "colgroup" }, test, ...facts ) ) );
		if ( meaningOf( test ) !== "" )
			body.append( make( "tr", {}, make( "th", { colSpan: used.length + 1, class: "faint" }, meaningOf( test ) ) ) );
		for ( const model of models )
			if ( metrics.models[model].tests[test] !== undefined )
				body.append( make( "tr", {}, make( "th", { scope: "row" }, model ),
					...used.map( ( [path] ) => cell( metrics, ["models", model, "tests", test, ...path] ) ) ) );
		table.append( body );
	}
	place.append( make( "div", { class: "scroll" }, table ) );
	/* Recordings are few and differ, so each of them is judged alone too. */
	const each = make( "tbody" );
	for ( const model of models )
		for ( const test of tests )
			if ( metrics.models[model].tests[test]?.each !== undefined )
				rows( each, metrics.models[model].tests[test].each, ["models", model, "tests", test, "each"] );
	if ( each.childElementCount > 0 )
		place.append( make( "details", {}, make( "summary", {}, "Each recording alone" ),
			make( "div", { class: "scroll" }, make( "table", {}, each ) ) ) );
}

/* The models themselves: size and training. */
function showModels( page, metrics )
{
	const place = section( page, "models", "The models", "Parameters, seconds of training and number of seeds, of those that were trained." );
	const keys = [...new Set( Object.values( metrics.models ).flatMap( ( model ) => Object.keys( model ) ) )].filter( ( key ) => key !== "tests" );
	const body = make( "tbody" );
	for ( const model of Object.keys( metrics.models ) )
		if ( keys.some( ( key ) => metrics.models[model][key] !== undefined ) )
			body.append( make( "tr", {}, make( "th", { scope: "row" }, model ), ...keys.map( ( key ) => cell( metrics, ["models", model, key] ) ) ) );
	place.append( make( "div", { class: "scroll" }, make( "table", {}, make( "thead", {}, make( "tr", {}, make( "th", {}, "" ),
		...keys.map( ( key ) => make( "th", { scope: "col" }, key.replaceAll( "_", " " ) ) ) ) ), body ) ) );
}

/* Logarithmic axes have no zero. */
function positive( points )
{
	return points.map( ( [x, y] ) => [x, y !== null && y > 0 ? y : null] );
}

function withTest( state, test = state.test )
{
	return Object.keys( state.details.models ).filter( ( model ) => state.details.models[model][test] !== undefined );
}

function showHorizon( page, state )
{
	const place = section( page, "horizon", "Error over the horizon",
		"How the error grows as models are left alone; logarithmic. The \"truth\" is the true equations under the same step: what is left "
		+ "there is the integrator's." );
	const controls = make( "div" );
	place.append( controls );
	const plot = chart( place, "Error over time by model", () => ( {
		x: { type: "value", name: "time [s]" },
		y: { type: "log", name: "error [degrees]", axisLabel: { formatter: decades } },
		tooltip: { valueFormatter: ( value ) => value === null || value === undefined ? "–" : `${format( value )}°` },
		series: withTest( state ).map( ( model ) => line( model, positive( state.details.models[model][state.test].rmse_deg[state.average]
			.map( ( value, i ) => [state.details.tests[state.test].times_s[i], value] ) ) ) ),
	} ), { zoom: true } );
	controls.append( choose( "average", "over the motions", [["median", "median"], ["mean", "mean"]], ( value ) =>
	{
		state.average = value;
		plot.update();
	} ) );
	return [plot];
}

/* Which of a test's examples is shown. */
function indexOf( state, test = state.test )
{
	return Math.min( state.example, state.details.tests[test].examples.length - 1 );
}

function exampleOf( state, test = state.test )
{
	return state.details.tests[test].examples[indexOf( state, test )];
}

/* A plot for each joint that any test has. describe( joint ), titleOf( joint ): null hides it now. */
function perJoint( place, state, label, describe, titleOf )
{
	const pair = make( "div", { class: "pair" } ), plots = [];
	const joints = Math.max( ...Object.values( state.details.tests ).map( ( test ) => test.joints.length ) );
	place.append( pair );
	for ( let joint = 0; joint < joints; ++joint )
	{
		const block = make( "div" ), title = make( "h3" );
		block.append( title );
		pair.append( block );
		const plot = chart( block, `${label}, joint ${joint + 1}`, () => describe( joint ), { low: true, zoom: true, group: label } );
		const update = () =>
		{
			const text = titleOf( joint );
			block.hidden = text === null;
			title.textContent = text ?? "";
			plot.update();
		};
		update();
		plots.push( { update } );
	}
	return plots;
}

function showExamples( page, state )
{
	const place = section( page, "examples", "Roll-outs",
		"The first, the middle and the last motion of the test, chosen by their place and not by how well a model did. Where a pulse "
		+ "acts the ground is shaded. A line ends where a model's state was no longer finite." );
	return perJoint( place, state, "Roll-out", ( joint ) =>
	{
		const example = exampleOf( state ), about = state.details.tests[state.test].joints[joint];
		const points = ( values ) => ( values ?? [] ).map( ( value, i ) => [i * example.step_s, value] );
		const series = [line( "truth", points( example.positions[joint] ) )];
		for ( const model of withTest( state ).filter( ( name ) => name !== "truth" ) )
			series.push( line( model, points( state.details.models[model][state.test].examples[indexOf( state )].positions[joint] ) ) );
		if ( example.pulse !== null )
			series[0].markArea = { silent: true, itemStyle: { color: style( "--faint" ), opacity: 0.25 },
				data: [[{ xAxis: example.pulse.start_s }, { xAxis: example.pulse.end_s }]] };
		return {
			x: { type: "value", name: "time [s]" },
			y: { type: "value", name: about?.unit === "m" ? "position [m]" : "angle [degrees]", scale: true },
			tooltip: { valueFormatter: ( value ) => value === null ? "–" : format( value ) },
			series,
		};
	}, ( joint ) => state.details.tests[state.test].joints[joint]?.name ?? null );
}

function showInteraction( page, state )
{
	const pulsed = Object.keys( state.details.tests ).filter( ( test ) =>
		state.details.tests[test].examples.some( ( example ) => example.interaction_nm.length > 0 ) );
	if ( pulsed.length === 0 )
		return [];
	const test = () => pulsed.includes( state.test ) ? state.test : pulsed[0];
	const place = section( page, "interaction", "The torque that a pulse causes at the other joint",
		"Over the pulse and as long again, from the motion alone: a model that does not know how the joints are coupled shows "
		+ "the wrong torque here." );
	const has = ( joint ) => ( exampleOf( state, test() ).interaction_nm[joint] ?? null ) !== null;
	return perJoint( place, state, "Interaction torque", ( joint ) =>
	{
		const example = exampleOf( state, test() ), series = [];
		if ( has( joint ) )
		{
			const points = ( values ) => values.map( ( value, i ) => [example.pulse.start_s + ( i + 0.5 ) * example.pulse.step_s, value] );
			series.push( line( "truth", points( example.interaction_nm[joint] ) ) );
			for ( const model of withTest( state, test() ).filter( ( name ) => name !== "truth" ) )
				series.push( line( model, points(
					state.details.models[model][test()].examples[indexOf( state, test() )].interaction_nm[joint] ) ) );
		}
		return {
			x: { type: "value", name: "time [s]", scale: true },
			y: { type: "value", name: "torque [N m]", scale: true },
			tooltip: { valueFormatter: ( value ) => value === null ? "–" : `${format( value )} N m` },
			series,
		};
	}, ( joint ) => has( joint )
		? `${state.details.tests[test()].joints[joint].name}, in the test "${test()}": ${exampleOf( state, test() ).motion}` : null );
}

function showTrust( page, state )
{
	const any = Object.values( state.details.models ).some( ( tests ) => Object.values( tests ).some( ( test ) => test.trust_and_error.length > 0 ) );
	if ( !any )
		return [];
	const place = section( page, "trust", "Trust and error",
		"States of the true motions: the model's own score of how far it is from its training (below 1 within, growing beyond) and the "
		+ "size of its acceleration's error there. A score that can be trusted rises with the error." );
	return [chart( place, "Trust score and error of acceleration", () => ( {
		x: { type: "log", name: "trust score", axisLabel: { formatter: decades } },
		y: { type: "log", name: "error of acceleration [rad/s²]", axisLabel: { formatter: decades } },
		tooltip: { trigger: "item", formatter: ( { seriesName, value } ) =>
			`${seriesName}: score ${format( value[0] )}, error ${format( value[1] )}` },
		series: withTest( state ).map( ( model ) => ( { name: model, type: "scatter", symbolSize: 5,
			data: state.details.models[model][state.test].trust_and_error.filter( ( [score, error] ) => score > 0 && error > 0 ),
			itemStyle: { color: colourOf( model ), opacity: 0.55 } } ) ).filter( ( { data } ) => data.length > 0 ),
	} ) )];
}

export function showLimb( page, metrics, details )
{
	const tests = Object.keys( metrics.tests );
	const state = { metrics, details, test: tests[0], example: 0, average: "median" };
	page.append( make( "h1", {}, details.name ), make( "p", {},
		"How far models of this limb stay with the truth when they are left alone with its inputs." ) );
	showHeldOut( page, metrics );
	if ( tests.length === 0 )
		return showRest( page, metrics, ["held_out_motions"] );
	const views = [], refresh = () =>
	{
		for ( const view of views )
			view.update();
	};
	const examples = make( "select", { id: "example" } );
	const fill = () => examples.replaceChildren( ...details.tests[state.test].examples.map( ( example, i ) =>
		make( "option", { value: String( i ), selected: i === indexOf( state ) }, example.motion ) ) );
	examples.addEventListener( "change", () =>
	{
		state.example = Number( examples.value );
		refresh();
	} );
	page.append( make( "nav", { class: "controls", "aria-label": "Choice of test and motion" },
		choose( "test", "test", tests.map( ( test ) => [test, test] ), ( value ) =>
		{
			state.test = value;
			fill();
			refresh();
		} ), make( "label", {}, "roll-out", examples ) ) );
	fill();
	views.push( ...showHorizon( page, state ) );
	showTable( page, metrics );
	views.push( ...showExamples( page, state ), ...showInteraction( page, state ), ...showTrust( page, state ) );
	showModels( page, metrics );
	showRest( page, metrics, ["held_out_motions", "tests", "models"] );
}
