export interface Args {
  readonly url: string;
  readonly key: string;
  readonly testKey: string | undefined;
  readonly adminToken: string | undefined;
  readonly groups: readonly string[];
  readonly only: string | undefined;
  readonly json: string | undefined;
  readonly jobs: number;
  readonly list: boolean;
  readonly clean: boolean;
  readonly stream: boolean;
}

export const USAGE = `Usage: npx @holdfast/conformance <url> --key <secret key> [options]
       npx @holdfast/conformance datasource <url> …                   tests the handler of an endpoint datasource
       npm run conformance -- <url> --key <secret key> [options]      in a clone of the repository

Tests a running server against the whole interface, over HTTP and WebSocket, and reports which rules it follows.
It adds its own models (ConfNote, ConfWhole, ConfStrict, ConfHook, ConfQuiet, and favorite if it is missing) to the
schema of the key's tenant, writes its own records there, and leaves all others unchanged. It receives webhooks on this
machine's loopback, if the server allows that. Exits with 1 if a case failed, with 2 if the run could not start.

  <url>                  the server's URL, for example http://127.0.0.1:8787; also as --url <url>
  --key <key>            a secret key (sk_live_… or sk_test_…) of the tenant to test in
  --test-key <key>       a secret key of the organization's other environment: checks that the two are separate
  --admin-token <token>  the operator's token: checks the operator's routes, and cases that need an empty tenant
  --group <section>      only this section; may be repeated, or be several separated by commas
  --only <words>         only cases whose sentence contains these words
  --jobs <number>        sections that run at the same time: 4
  --json <file>          also writes the report as JSON; - for standard output, instead of the text
  --stream               sends commits, queries and claims on the socket instead of over HTTP
  --clean                removes the suite's models from the schema at the end; their data is hidden, not deleted
  --list                 prints all sections and sentences, without testing
  --help                 prints this text

The keys can also come from the environment: CONFORMANCE_KEY, CONFORMANCE_TEST_KEY, CONFORMANCE_ADMIN_TOKEN.
`;

const TAKES_VALUE = new Set(["--url", "--key", "--test-key", "--admin-token", "--group", "--only", "--jobs", "--json"]);

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export function readArgs(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Args | string {
  const values = new Map<string, string[]>();
  let list = false;
  let clean = false;
  let stream = false;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === "--help") return "";
    if (word === "--list") {
      list = true;
      continue;
    }
    if (word === "--stream") {
      stream = true;
      continue;
    }
    if (word === "--clean") {
      clean = true;
      continue;
    }
    if (/^https?:/.test(word)) {
      values.set("--url", [word]);
      continue;
    }
    if (!TAKES_VALUE.has(word)) return `"${word}" is not an option.`;
    const value = args[++i];
    if (value === undefined || value === "") return `${word} takes a value.`;
    values.set(word, [...(values.get(word) ?? []), value]);
  }
  const last = (word: string) => values.get(word)?.at(-1);
  const url = last("--url") ?? "";
  const key = last("--key") ?? env.CONFORMANCE_KEY ?? "";
  if (!list && url === "") return "Name the server to test, for example http://127.0.0.1:8787.";
  if (!list && !/^https?:\/\/[^\s/]+/.test(url)) return `"${url}" is not an http or https address.`;
  if (!list && key === "") return "--key takes a secret key of the tenant to test in.";
  const jobs = Number(last("--jobs") ?? 4);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 32) return "--jobs takes a whole number from 1 to 32.";
  return {
    url: url.replace(/\/+$/, ""),
    key,
    testKey: last("--test-key") ?? env.CONFORMANCE_TEST_KEY,
    adminToken: last("--admin-token") ?? env.CONFORMANCE_ADMIN_TOKEN,
    groups: (values.get("--group") ?? []).flatMap((names) => names.split(",")),
    only: last("--only"),
    json: last("--json"),
    jobs,
    list,
    clean,
    stream,
  };
}
