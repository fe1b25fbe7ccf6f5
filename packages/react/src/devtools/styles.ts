/** All rules are scoped by one class, and the app's rules for plain elements do not apply inside. */
export const styles = `
.holdfast-devtools, .holdfast-devtools *:not(style) { all: revert; box-sizing: border-box; }
.holdfast-devtools { position: fixed; inset: auto 12px 12px auto; z-index: 2147483000; margin: 0; border: 0; padding: 0; background: none; overflow: visible; font: 13px/1.45 system-ui, sans-serif; color: #1c2430; }
.holdfast-devtools[data-position="bottom-left"] { inset: auto auto 12px 12px; }
.holdfast-devtools :is(button, input, textarea, select) { font: inherit; color: inherit; }
.holdfast-devtools :is(button, .hd-file) { background: #fff; border: 1px solid #8593a8; border-radius: 6px; padding: 3px 9px; cursor: pointer; }
.holdfast-devtools :where(button, .hd-file):hover:not(:disabled) { background: #eef2f8; }
.holdfast-devtools button:disabled { color: #6b7685; cursor: default; }
.holdfast-devtools .hd-file { position: relative; }
.holdfast-devtools .hd-file input { position: absolute; inset: 0; opacity: 0; cursor: pointer; }
.holdfast-devtools :focus-visible, .holdfast-devtools .hd-file:has(:focus-visible) { outline: 2px solid #1f5fd0; outline-offset: 1px; }
.holdfast-devtools .hd-panel { width: min(560px, calc(100vw - 24px)); height: min(460px, calc(100vh - 24px)); display: flex; flex-direction: column; background: #fff; border: 1px solid #8593a8; border-radius: 10px; box-shadow: 0 8px 30px rgb(20 30 50 / .25); overflow: hidden; }
.holdfast-devtools .hd-bar { display: flex; gap: 8px; align-items: center; padding: 8px 10px; background: #f3f5f9; border-bottom: 1px solid #d5dbe5; }
.holdfast-devtools .hd-bar h2 { margin: 0; font-size: 13px; font-weight: 600; white-space: nowrap; }
.holdfast-devtools .hd-bar span { flex: 1; color: #55606f; text-align: right; }
.holdfast-devtools .hd-tabs { display: flex; flex-wrap: wrap; gap: 4px; padding: 6px 10px; border-bottom: 1px solid #d5dbe5; }
.holdfast-devtools .hd-tabs button { border-color: transparent; }
.holdfast-devtools .hd-tabs button[aria-selected="true"] { background: #1f5fd0; color: #fff; }
.holdfast-devtools .hd-body { flex: 1; overflow: auto; padding: 10px; }
.holdfast-devtools :is(dl, ol, ul, p, h3, table) { margin: 0 0 10px; padding: 0; }
.holdfast-devtools h3 { font-size: 13px; font-weight: 600; overflow-wrap: anywhere; }
.holdfast-devtools dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; }
.holdfast-devtools dt { color: #55606f; }
.holdfast-devtools dd { margin: 0; overflow-wrap: anywhere; }
.holdfast-devtools :is(ol, ul) { list-style: none; }
.holdfast-devtools li { padding: 6px 0; border-bottom: 1px solid #e6eaf1; overflow-wrap: anywhere; }
.holdfast-devtools li[aria-current] { background: #e8effc; }
.holdfast-devtools time { color: #55606f; margin-right: 8px; font-variant-numeric: tabular-nums; }
.holdfast-devtools table { border-collapse: collapse; width: 100%; table-layout: fixed; }
.holdfast-devtools :is(th, td) { text-align: left; vertical-align: top; padding: 2px 8px 2px 0; overflow-wrap: anywhere; font-weight: 400; }
.holdfast-devtools th:first-child { width: 22%; }
.holdfast-devtools thead th { color: #55606f; }
.holdfast-devtools td.hd-mine { background: #eefaf0; }
.holdfast-devtools td.hd-other { background: #fdf1f0; }
.holdfast-devtools mark { background: #f3e3b3; color: inherit; }
.holdfast-devtools td.hd-mine mark { background: #bfe6c6; }
.holdfast-devtools td.hd-other mark { background: #f6cbc8; }
.holdfast-devtools .hd-row { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 0 0 10px; }
.holdfast-devtools textarea { width: 100%; min-height: 110px; font: 12px/1.4 ui-monospace, monospace; }
.holdfast-devtools input[type="range"] { flex: 1; min-width: 120px; }
.holdfast-devtools .hd-error { color: #a3231b; }
@media (prefers-color-scheme: dark) {
  .holdfast-devtools { color: #e6ebf3; color-scheme: dark; }
  .holdfast-devtools .hd-panel, .holdfast-devtools :is(button, .hd-file) { background: #171d27; border-color: #55637a; }
  .holdfast-devtools :where(button, .hd-file):hover:not(:disabled) { background: #263143; }
  .holdfast-devtools button:disabled { color: #93a0b3; }
  .holdfast-devtools .hd-bar { background: #1e2633; border-color: #35435a; }
  .holdfast-devtools .hd-tabs, .holdfast-devtools li { border-color: #2b374a; }
  .holdfast-devtools .hd-tabs button[aria-selected="true"] { background: #3f7df0; color: #0c1118; }
  .holdfast-devtools :is(dt, time, thead th, .hd-bar span) { color: #a8b4c6; }
  .holdfast-devtools li[aria-current] { background: #22314d; }
  .holdfast-devtools td.hd-mine { background: #15291c; }
  .holdfast-devtools td.hd-other { background: #341c1b; }
  .holdfast-devtools mark { background: #544515; }
  .holdfast-devtools td.hd-mine mark { background: #1d5230; }
  .holdfast-devtools td.hd-other mark { background: #6a2b28; }
  .holdfast-devtools textarea { background: #10151d; border-color: #55637a; }
  .holdfast-devtools .hd-error { color: #ff9d94; }
}
`;
