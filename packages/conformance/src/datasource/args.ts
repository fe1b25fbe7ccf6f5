export interface DatasourceArgs {
  readonly url: string;
  readonly signingKey: string;
  readonly model: string;
  readonly data: Fields;
  readonly change: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

export const DATASOURCE_USAGE = `Usage: npx @holdfast/conformance datasource <url> --signing-key <whsec_…> --model <name> --data <json> --change <json>

Tests a service that has records: the handler of an endpoint datasource. It sends the signed calls that a server sends,
creates, changes and deletes records with new ids, repeats calls and sends them at the same time, and reports which
promises the service keeps. It deletes its records at the end. Exits with 1 if a case failed, with 2 if the run could
not start.

  <url>                  the handler's address, for example http://127.0.0.1:4000/
  --signing-key <key>    its signing key: also from the environment, as CONFORMANCE_SIGNING_KEY
  --model <name>         a model whose records it has
  --data <json>          the fields of a record that it accepts, for example '{"title":"a"}'
  --change <json>        other values for some of them, for example '{"title":"b"}'
  --help                 prints this text
`;

const OPTIONS = ["--signing-key", "--model", "--data", "--change"] as const;

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export function readDatasourceArgs(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): DatasourceArgs | string {
  const values = new Map<string, string>();
  let url = "";
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (word === "--help") return "";
    if (/^https?:/.test(word)) {
      url = word;
      continue;
    }
    if (!(OPTIONS as readonly string[]).includes(word)) return `"${word}" is not an option.`;
    const value = words[++i];
    if (value === undefined || value === "") return `${word} takes a value.`;
    values.set(word, value);
  }
  if (!URL.canParse(url)) return "Name the handler to test, for example http://127.0.0.1:4000/.";
  const signingKey = values.get("--signing-key") ?? env.CONFORMANCE_SIGNING_KEY ?? "";
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(signingKey)) return "--signing-key takes whsec_ and base64.";
  const model = values.get("--model");
  if (model === undefined) return "--model takes the name of a model.";
  const data = readFields(values.get("--data"));
  if (!data) return `--data takes a JSON object: '{"title":"a"}'.`;
  const change = readFields(values.get("--change"));
  if (!change || Object.keys(change).length === 0) return `--change takes a JSON object with fields: '{"title":"b"}'.`;
  return { url, signingKey, model, data, change };
}

function readFields(text: string | undefined): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}
