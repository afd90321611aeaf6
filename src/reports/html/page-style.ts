/** Colours of series, in order, each with a contrast of at least 3:1 to the page. */
export const palette = {
  light: ['#2f62c9', '#b85400', '#1f7d4c', '#b0307a', '#6a51c7', '#7d6400', '#007a85', '#c0362c'],
  dark: ['#82a8ff', '#ffa45c', '#63d196', '#f58ac6', '#b9a6ff', '#dcc04f', '#53d0da', '#ff8f84'],
} as const;

export const surfaces = {
  light: { page: '#ffffff', text: '#1b1f24', rest: '#767c85' },
  dark: { page: '#14171c', text: '#e4e7ec', rest: '#9aa1ab' },
} as const;

function variables(theme: 'light' | 'dark', more: string): string {
  const { page, text, rest } = surfaces[theme];
  const colors = palette[theme].map((color, at) => `--c${at + 1}:${color};`).join('');
  return `color-scheme:${theme};--page:${page};--text:${text};--rest:${rest};${colors}${more}`;
}

const light = variables(
  'light',
  '--soft:#59616b;--line:#d5d9df;--panel:#f5f6f8;--link:#1d4fb0;--shade:#0000002e;--bad:#a11212;--bad-panel:#fdeceb;',
);
const dark = variables(
  'dark',
  '--soft:#a3abb6;--line:#363c45;--panel:#1d2127;--link:#8db4ff;--shade:#ffffff3a;--bad:#ffb0a8;--bad-panel:#3a1b1a;',
);

/** Colours of all pages, as variables. */
export const themeStyle = `:root{${light}}
@media screen and (prefers-color-scheme:dark){:root{${dark}}}
`;

export const pageStyle = `
${themeStyle}*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:880px;margin:0 auto;padding:24px 20px 48px;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 4px}
h2{font-size:1.2rem;margin:40px 0 8px;padding-top:12px;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:28px 0 6px}
p{margin:8px 0}
a{color:var(--link)}
.lead{color:var(--soft);margin:0 0 4px}
.source{color:var(--soft);font-size:.875rem;margin:0 0 16px}
.subject{margin:0 0 4px;font-family:ui-monospace,monospace;font-size:.875rem}
.note{color:var(--soft);font-size:.875rem;margin:2px 0 8px}
.empty{color:var(--soft);font-style:italic}
.gaps{border:1px solid var(--bad);border-left-width:5px;background:var(--bad-panel);color:var(--bad);padding:10px 14px;margin:16px 0;border-radius:4px}
.gaps p{margin:0;font-weight:600}
.gaps ul{margin:4px 0 0;padding-left:20px}
.params{display:flex;flex-wrap:wrap;gap:4px 20px;margin:0 0 12px;font-size:.875rem}
.params div{min-width:0}
.params dt{display:inline;color:var(--soft)}
.params dd{display:inline;margin:0 0 0 6px;font-variant-numeric:tabular-nums}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:10px;margin:16px 0}
.figures div{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:8px 12px;min-width:0}
.figures dt{color:var(--soft);font-size:.8125rem}
.figures dd{margin:0;text-align:left;white-space:normal;overflow-wrap:anywhere;line-height:1.35;font-size:1.2rem;font-weight:600;font-variant-numeric:tabular-nums}
.figures .large dd{font-size:.9375rem}
.figures .huge{grid-column:span 2}
.figures .huge dd{font-size:.875rem}
.figures dd.text{font-size:.875rem;font-weight:400}
.figures dd.change{font-size:.8125rem;font-weight:400}
.change span{color:var(--soft);white-space:nowrap}
.figures dd.time{font-size:.9375rem;line-height:1.6}
figure{margin:20px 0 24px}
figcaption{font-weight:600;padding:0 0 4px}
.chart svg{display:block;max-width:100%;height:auto}
.chart .narrow{display:none}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:2px 0 6px;padding:0;font-size:.8125rem}
.legend li{max-width:100%}
.swatch,.gaps{-webkit-print-color-adjust:exact;print-color-adjust:exact}
.swatch{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}
details{margin:4px 0}
summary{cursor:pointer;color:var(--link);font-size:.875rem;width:max-content}
.whole{margin:0;max-width:60ch}
.whole summary{width:auto;color:inherit;font-size:inherit}
.whole[open]{max-height:16em;overflow-y:auto;color:var(--soft)}
.whole[open] summary{color:var(--link)}
.scroll{overflow-x:auto;margin:8px 0 0;max-width:100%;width:fit-content;background:linear-gradient(to right,var(--page) 30%,transparent) 0 0/32px 100% no-repeat local,linear-gradient(to left,var(--page) 30%,transparent) 100% 0/32px 100% no-repeat local,linear-gradient(to right,var(--shade),transparent) 0 0/14px 100% no-repeat scroll,linear-gradient(to left,var(--shade),transparent) 100% 0/14px 100% no-repeat scroll}
.hint{margin:2px 0 8px;color:var(--link)}
@media screen and (min-width:901px){.scroll{max-width:min(calc(50vw + 390px),1240px)}}
table{border-collapse:collapse;font-size:.875rem;min-width:min(100%,340px);overflow-wrap:normal}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{vertical-align:bottom}
th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:2px 0;cursor:pointer;text-align:inherit;white-space:nowrap}
th button::after{content:' ↕';color:var(--soft);font-weight:400}
th[aria-sort=ascending] button::after{content:' ↑';color:inherit}
th[aria-sort=descending] button::after{content:' ↓';color:inherit}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.time,.date{white-space:nowrap;font-variant-numeric:tabular-nums}
td.text{white-space:nowrap}
td.free{white-space:normal;min-width:26ch;overflow-wrap:anywhere}
.long{display:inline-block;vertical-align:bottom;max-width:15ch;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-family:ui-monospace,monospace;font-size:.8125rem}
.copy{color:var(--soft);background:none;border:0;padding:4px 8px 4px 6px;cursor:pointer;vertical-align:baseline;line-height:1}
.copy::before{content:'';display:inline-block;width:8px;height:9px;border:1.5px solid;border-radius:2px;box-shadow:3px -3px 0 -1.5px var(--page),3px -3px 0 0}
.copy:hover{color:var(--link)}
.copy.done::before{content:'copied';width:auto;height:auto;border:0;box-shadow:none;color:var(--link);font:.75rem system-ui,sans-serif}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
code,pre{font-family:ui-monospace,monospace;font-size:.875em}
pre{overflow-x:auto;background:var(--panel);padding:10px 12px;border-radius:4px}
footer{margin-top:40px;border-top:1px solid var(--line);color:var(--soft);font-size:.8125rem}
footer h2{border:0;padding:0;margin:16px 0 4px;font-size:.95rem;color:var(--text)}
footer table{font-size:.8125rem}
footer .hash{font-family:ui-monospace,monospace}
@media screen and (max-width:620px){
main{padding:16px 14px 40px}
.chart .wide{display:none}
.chart .narrow{display:block}
.figures{grid-template-columns:repeat(auto-fill,minmax(132px,1fr));gap:8px}
}
@media print{
body{font-size:11pt}
main{max-width:none;padding:0}
.chart details,.copy,.hint,th button::after{display:none}
th button::after{content:''}
figure,tr{break-inside:avoid}
.scroll{overflow:visible}
.long{max-width:none;white-space:normal;overflow-wrap:anywhere}
}
`;
