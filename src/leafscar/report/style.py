"""Style of the page: light, dark, narrow and print. Contrast is AA in both schemes (docs/report.md)."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c2126; --soft: #59626b; --rule: #dde1e5; --wash: #f5f7f8;
  --context: #0b63a5; --ghost: #a3abb3; --grid: #e8ebee; --line: #59626b; --over: #b3261e14;
  --move: #a84300; --cut: #1c2126; --break: #93377c; --good: #1a6b3c; --bad: #a8231b;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181c; --ink: #e4e8eb; --soft: #9fa9b2; --rule: #31383f; --wash: #1c2227;
    --context: #63b3f0; --ghost: #87939d; --grid: #252b31; --line: #b4bdc5; --over: #ff8a8018;
    --move: #f0a04b; --cut: #e4e8eb; --break: #e39ad0; --good: #6fcf97; --bad: #ff8f86;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1100px; padding: 3rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1, h2, h3 { line-height: 1.25; font-weight: 600; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; max-width: 30em; margin: .25rem 0 1rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 0 0 .5rem; }
h3 { font-size: 1rem; margin: 2.25rem 0 .5rem; }
p, ul { margin: .5rem 0; max-width: 46em; overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; }
code { font: .95em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
a { color: var(--context); }
.kicker { margin: 0; color: var(--soft); font-size: .9rem; }
.session { margin-top: 3.5rem; padding-top: 2rem; border-top: 1px solid var(--rule); }
main > .session:first-child { margin-top: 2rem; }
.small { color: var(--soft); font-size: .875rem; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.25rem; margin: 1rem 0; }
dl.facts, table, figcaption, .legend { font-size: .9rem; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1.25rem 0 .75rem; }
.scroll:focus-visible { outline: 2px solid var(--context); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .9rem .45rem 0; text-align: left; vertical-align: baseline; }
th, td { border-bottom: 1px solid var(--rule); }
thead th { color: var(--soft); font-weight: 500; border-bottom-color: var(--soft); vertical-align: bottom; }
tbody th { font-weight: 600; white-space: nowrap; }
.policies :is(th, td):not(:first-child) { text-align: right; white-space: nowrap; padding: .45rem 0 .45rem 1.1rem; }
.policies thead th:not(:first-child) { white-space: normal; }
.policies .muted { color: var(--soft); }
.policies .cheaper { color: var(--good); }
.policies .dearer { color: var(--bad); }
.data .num { text-align: right; white-space: nowrap; padding-left: 1.1rem; padding-right: 0; }
.data thead th { white-space: nowrap; }
.data .num + :is(td, th):not(.num) { padding-left: 1.1rem; }
.data .cheaper { color: var(--good); }
.data .dearer { color: var(--bad); }
.data .muted { color: var(--soft); }
.data .path { overflow-wrap: anywhere; min-width: 9em; }
.data tbody th { white-space: normal; overflow-wrap: anywhere; min-width: 7em; }
.data td:has(.bar) { width: 22%; min-width: 6rem; padding-right: 0; }
.data thead button, .policies thead button { font: inherit; color: inherit; background: none; border: 0; padding: 0; }
thead button { cursor: pointer; text-align: inherit; }
thead button:hover { color: var(--ink); text-decoration: underline; }
thead button:focus-visible, a:focus-visible { outline: 2px solid var(--context); outline-offset: 3px; }
thead [aria-sort] button { color: var(--ink); }
thead [aria-sort="ascending"] button::after { content: " \\25B2"; font-size: .75em; }
thead [aria-sort="descending"] button::after { content: " \\25BC"; font-size: .75em; }
.about { color: var(--soft); margin-right: .15em; }
.tag { color: var(--soft); font-weight: 400; font-size: .85em; margin-left: .4em; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.25rem; list-style: none; padding: 0; max-width: none; }
.legend li { display: flex; align-items: center; gap: .45rem; color: var(--soft); }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)); gap: 2rem; }
.panels { margin-top: 1.5rem; }
figure { display: flex; flex-direction: column; justify-content: space-between; margin: 0; break-inside: avoid; }
.bill { margin-left: .5em; }
figcaption { line-height: 1.4; margin-bottom: .35rem; }
figcaption strong { font-weight: 600; overflow-wrap: anywhere; }
.small { display: block; font-variant-numeric: tabular-nums; font-size: .85rem; }
svg { display: block; width: 100%; height: auto; font: 11.5px -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
svg text { fill: var(--soft); font-variant-numeric: tabular-nums; }
svg :is(.axis, .context, .ghost, .lines, .dots) { fill: none; stroke-linejoin: round; }
svg .end { text-anchor: end; }
svg .mid { text-anchor: middle; }
svg .grid { stroke: var(--grid); stroke-width: 1; }
svg .over { fill: var(--over); }
svg .context { stroke: var(--context); stroke-width: 1.5; }
svg .ghost { stroke: var(--ghost); stroke-width: 1.1; }
svg .dots { stroke: var(--context); stroke-width: 4; stroke-linecap: round; }
svg .line path { stroke: var(--line); stroke-width: 1; }
svg .window path { stroke: var(--ink); stroke-width: 1.3; }
svg .window text { fill: var(--ink); }
svg .cuts .mark { fill: var(--cut); }
svg .cuts .drop { stroke: var(--cut); stroke-width: 1; stroke-dasharray: 2 2; }
svg .moves path { fill: var(--move); }
svg .breaks path { stroke: var(--break); stroke-width: 1.2; }
svg .beyond { fill: var(--bad); }
svg.bar { height: .6rem; width: 100%; }
svg.bar rect { fill: var(--context); }
svg.scatter { max-width: 46rem; margin-top: 1rem; }
svg.scatter .lead { stroke: var(--ghost); stroke-width: .8; fill: none; }
svg.scatter .policy .spot { fill: var(--context); }
svg.scatter .recorded .spot { fill: var(--ink); }
svg.scatter :is(.policy, .recorded) text { fill: var(--ink); }
svg.scatter .equal .thread { fill: none; stroke: var(--line); stroke-dasharray: 4 3; }
svg.scatter .equal .spot { fill: var(--paper); stroke: var(--line); stroke-width: 1.4; }
svg.symbol { width: 32px; height: 14px; flex: none; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--rule); color: var(--soft); }
footer { font-size: .85rem; }
@media (max-width: 640px) {
  body { padding: 1.5rem 1rem 2.5rem; }
  h1 { font-size: 1.45rem; }
  .policies th:first-child { position: sticky; left: 0; background: var(--paper); }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: .5rem; }
  svg { font-size: 13px; }
  svg.scatter { min-width: 34rem; }
}
@media print {
  @page { margin: 16mm 14mm; }
  body { padding: 0; max-width: none; font-size: 10pt; }
  h1 { font-size: 17pt; }
  h2, h3, h3 + .small, .legend { break-after: avoid; }
  tr { break-inside: avoid; }
  .session { margin-top: 2rem; }
  .scroll { overflow: visible; }
  .data { font-size: 8.5pt; }
  thead button::after { content: none !important; }
  .panels { grid-template-columns: 1fr 1fr; gap: 6mm; }
  svg { font-size: 13.5px; }
  .policies :is(th, td):not(:first-child) { padding-left: .7em; }
  a { color: inherit; }
}
"""
"""The whole style sheet; it refers to nothing outside the page."""
