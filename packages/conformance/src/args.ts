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
}

export const USAGE = `Usage: npx @holdfast/conformance <address> --key <secret key> [options]
       npm run conformance -- <address> --key <secret key> [options]      in a clone of the repository

Asks a running server everything that the interface promises, over HTTP and WebSocket, and reports which promises it
keeps. It adds its own models (ConfNote, ConfWhole, ConfStrict, ConfHook, ConfQuiet, and favorite where there is none)
to the schema of the key's tenant, writes records of its own there, and leaves all others alone. Webhooks are received on
this machine's loopback, where the server allows that. Ends with 1 when something failed, with 2 when the run could not
begin.

  <address>              where the server listens, for example http://127.0.0.1:8787; also as --url <address>
  --key <key>            a secret key (sk_live_… or sk_test_…) of the tenant to work in
  --test-key <key>       a secret key of the same organization's other environment: checks that the two are apart
  --admin-token <token>  the operator's token: checks the operator's routes, and what needs an empty tenant
  --group <section>      only this section; may be repeated, or several with commas between
  --only <words>         only cases whose sentence contains these words
  --jobs <number>        sections side by side: 4
  --json <file>          writes the report as JSON too; - for the standard output, instead of the text
  --clean                takes the suite's models out of the schema again at the end; what is stored under them is
                         hidden, not deleted
  --list                 prints all sections and sentences, and asks nothing
  --help                 this

Keys may also come from the environment: CONFORMANCE_KEY, CONFORMANCE_TEST_KEY, CONFORMANCE_ADMIN_TOKEN.
`;

const TAKES_VALUE = new Set(["--url", "--key", "--test-key", "--admin-token", "--group", "--only", "--jobs", "--json"]);

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export function readArgs(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Args | string {
  const values = new Map<string, string[]>();
  let list = false;
  let clean = false;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === "--help") return "";
    if (word === "--list") {
      list = true;
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
  if (!list && url === "") return "Name the server to ask, for example http://127.0.0.1:8787.";
  if (!list && !/^https?:\/\/[^\s/]+/.test(url)) return `"${url}" is not an http or https address.`;
  if (!list && key === "") return "--key takes a secret key of the tenant to work in.";
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
  };
}
