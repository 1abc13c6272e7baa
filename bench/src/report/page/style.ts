/** The look of the report. No `<` or `&` may stand here: the page is well-formed XML, too. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #fbfbf9; --sheet: #ffffff; --ink: #1d2125; --soft: #5d656d; --faint: #8b939b; --rule: #e3e4e0;
  --warn: #8a5a00; --warn-ground: #fdf5e3; --bad: #a3262a; --bad-ground: #fcefee;
  --s0: #1561a9; --s1: #d2691a; --s2: #2a8c5c; --s3: #a33c78; --s4: #6c58b8; --s5: #93741c; --s6: #2c90a6; --s7: #70767c; }
@media (prefers-color-scheme: dark) { :root { --ground: #131619; --sheet: #1a1e22; --ink: #e5e7e8; --soft: #a4acb3; --faint: #7a828a; --rule: #2e343a;
  --warn: #e6bd66; --warn-ground: #2a2415; --bad: #f08b86; --bad-ground: #2e1c1c;
  --s0: #62aaf0; --s1: #f0984f; --s2: #5fc492; --s3: #dd7fb3; --s4: #a594ec; --s5: #d1b257; --s6: #63c3d8; --s7: #a2a9af; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif; }
main, header, footer { max-width: 1220px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 44px; }
footer { padding-top: 8px; padding-bottom: 56px; color: var(--soft); font-size: 13px; }
h1 { font-size: 30px; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; margin: 0 0 6px; }
h2 { font-size: 20px; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em; margin: 52px 0 4px; padding-top: 18px; border-top: 1px solid var(--rule); }
h3 { font-size: 15px; line-height: 1.35; font-weight: 620; margin: 0; }
p { margin: 4px 0 14px; max-width: 78ch; color: var(--soft); }
a { color: inherit; text-decoration-color: var(--faint); text-underline-offset: 3px; }
code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; color: var(--ink); }
nav { margin: 18px 0 0; font-size: 13.5px; }
nav a { margin-right: 18px; white-space: nowrap; color: var(--soft); }
.glance { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); background: var(--sheet); border: 1px solid var(--rule); border-radius: 8px; overflow: hidden; margin: 26px 0 0; padding: 0; }
.glance div { padding: 14px 18px 15px; margin: 0 -1px -1px 0; border-right: 1px solid var(--rule); border-bottom: 1px solid var(--rule); }
.glance dt { font-size: 12.5px; color: var(--soft); }
.glance dd { margin: 1px 0 0; font-size: 25px; line-height: 1.25; font-weight: 620; letter-spacing: -0.015em; font-variant-numeric: tabular-nums; }
.glance small { display: block; font-size: 12.5px; font-weight: 400; letter-spacing: 0; color: var(--soft); }
.notice { margin: 18px 0 0; padding: 12px 18px; border-radius: 8px; background: var(--warn-ground); border-left: 3px solid var(--warn); }
.notice h3 { color: var(--warn); }
.notice.bad { background: var(--bad-ground); border-color: var(--bad); }
.notice.bad h3 { color: var(--bad); }
.notice ul { margin: 4px 0 0; padding-left: 18px; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr)); gap: 20px; margin-top: 16px; }
figure { margin: 0; padding: 16px 18px 12px; min-width: 0; background: var(--sheet); border: 1px solid var(--rule); border-radius: 8px; }
figure.bars { grid-column: 1 / -1; overflow-x: auto; }
figure p { margin: 2px 0 8px; font-size: 13px; line-height: 1.45; }
figure > svg { display: block; width: 100%; height: auto; overflow: visible; }
figure.bars > svg { min-width: 640px; max-width: 1060px; margin: 0 auto; }
section > h3 { margin-top: 24px; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0 0 8px; padding: 0; font-size: 12.5px; color: var(--soft); }
.legend li { display: flex; align-items: center; gap: 6px; }
.swatch { width: 22px; height: 14px; flex: none; overflow: visible; }
svg text { font-family: inherit; fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
svg .name { fill: var(--faint); }
svg .group { fill: var(--ink); font-size: 12.5px; }
svg .figure { fill: var(--ink); }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .axis { stroke: var(--faint); stroke-width: 1; }
svg .line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
svg .dashed { stroke-dasharray: 5 5; stroke-width: 1.5; stroke: var(--faint); }
svg .range { stroke: currentColor; stroke-width: 1.25; opacity: 0.65; }
svg .whisker { stroke: var(--ink); stroke-width: 1.25; opacity: 0.7; }
svg .mark { fill: currentColor; stroke: var(--sheet); stroke-width: 1; }
svg .bar { fill: currentColor; }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); }
.s4 { color: var(--s4); } .s5 { color: var(--s5); } .s6 { color: var(--s6); } .s7 { color: var(--s7); }
details { margin-top: 8px; font-size: 13px; }
summary { cursor: pointer; color: var(--soft); }
.wide { overflow-x: auto; margin: 12px 0 0; }
table { border-collapse: collapse; font-size: 13px; line-height: 1.4; font-variant-numeric: tabular-nums; min-width: 100%; }
th, td { padding: 6px 14px 6px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-weight: 500; color: var(--soft); vertical-align: bottom; border-bottom-color: var(--faint); }
tbody th { font-weight: 400; }
.n { text-align: right; }
tr.invalid th, tr.invalid td { background: var(--bad-ground); color: var(--soft); }
tr.invalid td.reason { white-space: normal; color: var(--bad); }
tr.invalid strong { letter-spacing: 0.04em; font-size: 12px; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: 5px 26px; margin: 12px 0 0; font-size: 14px; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 640px) { main, header, footer { padding-left: 16px; padding-right: 16px; } dl.facts { grid-template-columns: 1fr; gap: 0; } dl.facts dd { margin-bottom: 8px; } }
@media print { :root { color-scheme: light; --ground: #ffffff; --sheet: #ffffff; --ink: #000000; --soft: #444444; --faint: #888888; --rule: #d5d5d5; --warn: #6b4600; --warn-ground: #ffffff; --bad: #8a1a1e; --bad-ground: #ffffff;
  --s0: #1561a9; --s1: #d2691a; --s2: #2a8c5c; --s3: #a33c78; --s4: #6c58b8; --s5: #93741c; --s6: #2c90a6; --s7: #70767c; }
  @page { margin: 14mm; } body { font-size: 10.5pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; } main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  nav, details { display: none; } figure, .notice, tr { break-inside: avoid; } h2 { break-after: avoid; } .charts { grid-template-columns: 1fr 1fr; gap: 10px; }
  .wide { overflow: visible; } table { font-size: 7.5pt; } th, td { padding-right: 7px; padding-top: 3px; padding-bottom: 3px; white-space: normal; } }
`
