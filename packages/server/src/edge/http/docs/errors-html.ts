import { createHash } from "node:crypto";
import { type ErrorCode, errorCodes, errorSentences, remedySentences, statusesInBodies } from "@holdfast/sdk/protocol";
import { escapeHtml } from "./html.ts";

/** A self-contained page, generated from the error table: each code with its meaning and what to do. */
export function errorsHtml(): string {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Errors · Holdfast</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Errors</h1>
<p>Every error, over HTTP and on the stream, has the same envelope: <code>type</code>, <code>message</code>, <code>code</code>,
often <code>param</code>, <code>doc_url</code> (the link to its section here), and <code>request_id</code> (equal to the
response’s <code>x-request-id</code>). Codes are stable; messages can change. Use the code to decide.</p>
<p>See also <a href="../docs">all routes</a>.</p>
</header>
<nav aria-label="Error codes">
<ul>
${codes.map((code) => `<li><a href="#${code}">${code}</a> <span>${statusOf(code)}</span></li>`).join("\n")}
</ul>
</nav>
<main>
${codes.map(section).join("\n")}
</main>
<section id="then" aria-labelledby="then-title">
<h2 id="then-title">What to do then</h2>
<dl>
${Object.entries(remedySentences)
  .map(([then, says]) => `<div><dt><code>${then}</code></dt><dd>${escapeHtml(says)}</dd></div>`)
  .join("\n")}
</dl>
</section>
</body>
</html>
`;
}

function section(code: ErrorCode): string {
  const { type, then } = errorCodes[code];
  return `<section id="${code}" aria-labelledby="${code}-title">
<h2 id="${code}-title"><a href="#${code}"><code>${code}</code></a></h2>
<p>${escapeHtml(errorSentences[code])}</p>
<dl>
<div><dt>Status</dt><dd>${statusOf(code)}</dd></div>
<div><dt>Type</dt><dd><code>${type}</code></dd></div>
<div><dt>Then</dt><dd><a href="#then"><code>${then}</code></a>: ${escapeHtml(remedySentences[then])}</dd></div>
</dl>
</section>`;
}

/** The status, and the second one for codes that have two. */
function statusOf(code: ErrorCode): string {
  const inBodies = statusesInBodies[code];
  return `${errorCodes[code].status}${inBodies === undefined ? "" : `, ${inBodies} in a body`}`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b636b; --line: #d9dde1; --paper: #fff; --link: #0b5cad; --mark: #fff4c2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --soft: #a3abb3; --line: #3a4046; --paper: #15181b; --link: #7cbcff; --mark: #3d3510; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 6rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.15rem; margin: 0 0 .25rem; }
p { margin: 0 0 .75rem; max-width: 42rem; }
a { color: var(--link); }
h2 a { color: inherit; text-decoration: none; }
h2 a:hover, h2 a:focus-visible { text-decoration: underline; }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code { font: .925em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
nav ul { columns: 15rem; column-gap: 2rem; list-style: none; margin: 1.5rem 0 2.5rem; padding: 1rem 0;
  border-block: 1px solid var(--line); }
nav li { break-inside: avoid; }
nav li span { color: var(--soft); font-variant-numeric: tabular-nums; }
section { border-top: 1px solid var(--line); padding: 1.25rem .75rem; margin: 0 -.75rem; scroll-margin-top: 1rem; }
main section:first-child { border-top: 0; }
section:target { background: var(--mark); }
dl { margin: 0; }
dl div { display: grid; grid-template-columns: 6rem 1fr; gap: .75rem; }
dt { color: var(--soft); }
dd { margin: 0; }
`;

/** The page loads and runs nothing. Its inline style is allowed by hash. */
export const ERRORS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
