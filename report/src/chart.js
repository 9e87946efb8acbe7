/* Plots by Apache ECharts, in the page's colours; they follow its width, its theme and its printing. */
import { init, use, connect } from "echarts/core";
import { BarChart, LineChart, ScatterChart } from "echarts/charts";
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent,
	TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";
import { make } from "./dom.js";

use( [BarChart, LineChart, ScatterChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent,
	MarkAreaComponent, MarkLineComponent, TooltipComponent, SVGRenderer] );

/* Okabe and Ito's colours, which people with any colour vision tell apart; truth takes the colour of text. */
const colours = {
	skinning: "#8c8c8c", network: "#e69f00", instant: "#56b4e9", vertex: "#009e73", modal_unfitted: "#cc79a7",
	modal: "#0072b2", hybrid: "#d55e00",
	ape_lagrangian: "#d55e00", ape_affine: "#0072b2", ape_plain: "#009e73", gru: "#e69f00", lstm: "#cc79a7",
	known_terms: "#56b4e9",
};
const spare = ["#8c8c8c", "#a6761d", "#7570b3", "#66a61e", "#e7298a"];
const dashes = { skinning: "dashed", network: "dashed", gru: "dashed", lstm: "dashed", known_terms: "dotted",
	instant: "dotted", at_rest: "dotted" };
const truths = new Set( ["simulation", "truth", "at_rest", "dynamics"] );
const given = new Map();

export function colourOf( name )
{
	if ( truths.has( name ) )
		return style( "--text" );
	if ( Object.hasOwn( colours, name ) )
		return colours[name];
	if ( !given.has( name ) )
		given.set( name, spare[given.size % spare.length] );
	return given.get( name );
}

export function dashOf( name )
{
	return Object.hasOwn( dashes, name ) ? dashes[name] : "solid";
}

export function style( name )
{
	return getComputedStyle( document.documentElement ).getPropertyValue( name ).trim();
}

const all = [];

/* What every plot has. */
function base()
{
	const text = style( "--text" ), faint = style( "--faint" ), line = style( "--line" );
	return {
		animation: false,
		aria: { enabled: true },
		textStyle: { color: text, fontFamily: "system-ui, sans-serif" },
		grid: { left: 62, right: 18, top: 36, outerBoundsMode: "none" },
		legend: { type: "scroll", top: 0, left: 0, textStyle: { color: text }, inactiveColor: faint,
			pageTextStyle: { color: faint }, pageIconColor: text, itemWidth: 22, itemHeight: 9 },
		tooltip: { trigger: "axis", confine: true, backgroundColor: style( "--raised" ), borderColor: line,
			textStyle: { color: text, fontSize: 12 }, order: "valueDesc" },
		axis: { nameLocation: "middle", nameTextStyle: { color: faint }, axisLabel: { color: faint, hideOverlap: true },
			axisLine: { lineStyle: { color: faint } }, splitLine: { lineStyle: { color: line } } },
	};
}

function axes( common, own, gap )
{
	return { nameGap: gap, ...common.axis, ...own,
		axisLabel: { ...common.axis.axisLabel, ...own.axisLabel } };
}

/* A plot in parent. describe() gives { x, y, series, ... } of ECharts and is asked again when the colours or the
 * data change; the result has update(). label is read to those who do not see it. */
export function chart( parent, label, describe, { low = false, zoom = false, group = null } = {} )
{
	const place = make( "div", { class: low ? "chart low" : "chart", role: "img", "aria-label": label } );
	parent.append( make( "figure", {}, place ) );
	const plot = init( place, null, { renderer: "svg" } );
	if ( group !== null )
	{
		plot.group = group;
		connect( group );
	}
	const update = () =>
	{
		const common = base(), own = describe();
		plot.setOption( {
			animation: common.animation,
			aria: { ...common.aria, label: { description: label } },
			textStyle: common.textStyle,
			grid: { ...common.grid, bottom: zoom ? 72 : 44, ...own.grid },
			legend: { ...common.legend, ...own.legend },
			tooltip: { ...common.tooltip, ...own.tooltip },
			xAxis: axes( common, own.x, 26 ),
			yAxis: axes( common, own.y, 44 ),
			dataZoom: zoom ? [{ type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl" },
				{ type: "slider", filterMode: "none", height: 18, bottom: 6, showDataShadow: false,
					borderColor: style( "--line" ), textStyle: { color: style( "--faint" ) } }] : [],
			series: own.series,
		}, { replaceMerge: ["series"] } );
	};
	update();
	new ResizeObserver( () => plot.resize() ).observe( place );
	const entry = { plot, update };
	all.push( entry );
	return entry;
}

/* A line of [x, y] pairs in the colour that its name always has. */
export function line( name, points, more = {} )
{
	const colour = colourOf( name );
	return { name, type: "line", showSymbol: false, symbolSize: 5, data: points, connectNulls: false,
		itemStyle: { color: colour },
		lineStyle: { color: colour, width: truths.has( name ) && name !== "at_rest" ? 2.4 : 1.6,
			type: dashOf( name ) },
		emphasis: { focus: "series" }, ...more };
}

export function redrawAll()
{
	for ( const { update } of all )
		update();
}

/* Paper is light and has a width of its own. */
export function followThePage()
{
	matchMedia( "screen and (prefers-color-scheme: dark)" ).addEventListener( "change", redrawAll );
	addEventListener( "beforeprint", () =>
	{
		redrawAll();
		for ( const { plot } of all )
			plot.resize( { width: Math.min( plot.getDom().clientWidth, 680 ) } );
	} );
	addEventListener( "afterprint", () =>
	{
		redrawAll();
		for ( const { plot } of all )
			plot.resize( { width: "auto" } );
	} );
}
