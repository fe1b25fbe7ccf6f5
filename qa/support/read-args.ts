import { parseArgs } from "node:util";

/** The kind of an option's value. The option is written as `--<name>`. */
export type ArgOption = { readonly says: string } /** A whole number within bounds. */ & (
  | { readonly count: readonly [least: number, most: number]; readonly default?: number | undefined }
  /** One or several of these names, with commas between or the option repeated; all of them by default. */
  | { readonly someOf: readonly string[] }
  | { readonly flag: true }
);

type ValueOf<O extends ArgOption> = O extends { flag: true }
  ? boolean
  : O extends { someOf: readonly (infer Name)[] }
    ? readonly Name[]
    : number | (O extends { default: number } ? never : undefined);

export type ArgsOf<Table extends Readonly<Record<string, ArgOption>>> = {
  readonly [Name in keyof Table]: ValueOf<Table[Name]>;
};

/**
 * Reads a program's arguments by a table of its options. Returns the values by name, an error message,
 * or "" if help was requested. `parseArgs` is not strict here: its own messages about `--seed -1` are unclear, and it
 * reports an unknown option before it sees `--help`.
 */
export function readArgs<const Table extends Readonly<Record<string, ArgOption>>>(
  table: Table,
  args: readonly string[],
): ArgsOf<Table> | string {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, option]) => [
      name,
      { type: "flag" in option ? ("boolean" as const) : ("string" as const), multiple: true },
    ]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true, allowPositionals: true });
  if (tokens.some((token) => token.kind === "option" && token.name === "help")) return "";
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") return notAnOption(token.value);
    const option = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (!option || !token.rawName.startsWith("--")) return notAnOption(token.rawName);
    if ("flag" in option ? token.value !== undefined : !token.value) return `${token.rawName} ${wanted(option)}.`;
    given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? ""]);
  }
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(table)) {
    const value = parsed(option, given.get(name));
    if (value === WRONG) return `--${name} ${wanted(option)}.`;
    values[name] = value;
  }
  return values as ArgsOf<Table>;
}

const WRONG = Symbol("wrong");

function parsed(option: ArgOption, given: readonly string[] | undefined): unknown {
  const last = given?.at(-1);
  if ("flag" in option) return given !== undefined;
  if ("someOf" in option) {
    const names = given?.flatMap((one) => one.split(",")) ?? option.someOf;
    return names.every((name) => option.someOf.includes(name)) ? names : WRONG;
  }
  if (last === undefined) return option.default;
  const [least, most] = option.count;
  const value = /^\d{1,10}$/.test(last) ? Number(last) : Number.NaN;
  return value >= least && value <= most ? value : WRONG;
}

function wanted(option: ArgOption): string {
  if ("flag" in option) return "takes no value";
  if ("someOf" in option) return `takes some of ${option.someOf.join(", ")}`;
  return `takes a whole number from ${option.count[0]} to ${option.count[1]}`;
}

const notAnOption = (word: string) => `"${word}" is not an option.`;
