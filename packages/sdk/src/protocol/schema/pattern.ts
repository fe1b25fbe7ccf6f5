import type { Json } from "../json.ts";
import type { BrokenRule } from "./field-rules.ts";
import type { Field } from "./model-schema.ts";

/*
 * The rule `pattern`: a regular expression that a whole text has to match, as in the attribute of HTML.
 *
 * The engines of JavaScript try one way after the other, which takes exponential time for some patterns: one tenant
 * could stop the server for all. So a pattern becomes an automaton of its characters (Glushkov's), which reads a text
 * once and holds every way at the same time. What such an automaton cannot do is refused when the schema is pushed:
 * references to groups, and looking around. A single character is left to the engine of JavaScript, which so has the
 * last word on classes and escapes.
 */

const MOST_CHARACTERS = 200;
const MOST_POSITIONS = 200;
const MOST_STEPS = 2_000;
/** A longer text breaks every pattern: this bounds how long a check can take. */
export const LONGEST_TEXT = 10_000;

/** Whether a value breaks the field's pattern. */
export function brokenPattern({ pattern }: Field, value: Json): BrokenRule | undefined {
  if (pattern === undefined || typeof value !== "string") return undefined;
  if (value.length > LONGEST_TEXT)
    return { rule: "pattern", demand: `must have at most ${LONGEST_TEXT} characters, because it has a pattern` };
  const compiled = compilePattern(pattern);
  // The server has refused what has a fault. A client may have a schema that was never pushed.
  if ("fault" in compiled || matches(compiled, value)) return undefined;
  return { rule: "pattern", demand: `must match ${pattern}` };
}

/** Why a pattern cannot be used. Undefined: it can. */
export function faultOfPattern(pattern: string): string | undefined {
  const compiled = compilePattern(pattern);
  return "fault" in compiled ? `The pattern ${compiled.fault}.` : undefined;
}

type Test = (character: string) => boolean;

interface Pattern {
  /** Each once: equal classes are one test. */
  readonly tests: readonly Test[];
  /** By position: which test its character passes. */
  readonly testAt: readonly number[];
  /** By position: the positions that may come next. */
  readonly next: readonly (readonly number[])[];
  readonly first: readonly number[];
  readonly last: ReadonlySet<number>;
  readonly matchesEmpty: boolean;
}

function matches({ tests, testAt, next, first, last, matchesEmpty }: Pattern, text: string): boolean {
  if (text === "") return matchesEmpty;
  // By position and by test: the step at which it was looked at last.
  const seen = new Int32Array(testAt.length);
  const tested = new Int32Array(tests.length);
  const passed = new Uint8Array(tests.length);
  let now: readonly number[] = [];
  let step = 0;
  for (const character of text) {
    step += 1;
    const reached: number[] = [];
    const enter = (positions: readonly number[]) => {
      for (const position of positions) {
        if (seen[position] === step) continue;
        seen[position] = step;
        const at = testAt[position] as number;
        if (tested[at] !== step) {
          tested[at] = step;
          passed[at] = Number(tests[at]?.(character));
        }
        if (passed[at] === 1) reached.push(position);
      }
    };
    if (step === 1) enter(first);
    for (const position of now) enter(next[position] as readonly number[]);
    if (reached.length === 0) return false;
    now = reached;
  }
  return now.some((position) => last.has(position));
}

/** A part of a pattern, in positions. */
interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly isOptional: boolean;
}

type Node = () => Part;

class Fault extends Error {}

const EMPTY: Part = { first: [], last: [], isOptional: true };

function compilePattern(pattern: string): Pattern | { readonly fault: string } {
  try {
    return compiled(pattern);
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
    throw error;
  }
}

function compiled(pattern: string): Pattern {
  if (pattern.length > MOST_CHARACTERS) throw new Fault(`has more than ${MOST_CHARACTERS} characters`);
  const testAt: number[] = [];
  const next: Set<number>[] = [];
  /** By source: its number, and the test. */
  const tests = new Map<string, readonly [number, Test]>();
  let steps = 0;

  const connect = (from: readonly number[], to: readonly number[]) => {
    steps += from.length * to.length;
    if (steps > MOST_STEPS) throw new Fault("is too complex: repeat less, or smaller parts");
    for (const one of from) for (const other of to) next[one]?.add(other);
  };
  const character =
    (source: string): Node =>
    () => {
      if (testAt.length === MOST_POSITIONS)
        throw new Fault(`describes more than ${MOST_POSITIONS} characters: repeat less, and use maxLength for lengths`);
      const [test, compare] = tests.get(source) ?? [tests.size, characterTest(source)];
      tests.set(source, [test, compare]);
      next.push(new Set());
      const at = testAt.push(test) - 1;
      return { first: [at], last: [at], isOptional: false };
    };
  const both = (a: Part, b: Part): Part => {
    connect(a.last, b.first);
    return {
      first: a.isOptional ? [...a.first, ...b.first] : a.first,
      last: b.isOptional ? [...a.last, ...b.last] : b.last,
      isOptional: a.isOptional && b.isOptional,
    };
  };
  const either = (a: Part, b: Part): Part => ({
    first: [...a.first, ...b.first],
    last: [...a.last, ...b.last],
    isOptional: a.isOptional || b.isOptional,
  });
  const repeated = (part: Part): Part => {
    connect(part.last, part.first);
    return part;
  };
  /** `x{2,4}` is `xx(x(x)?)?`: each position leads to few others. */
  const times =
    (node: Node, least: number, most: number): Node =>
    () => {
      const rest = (count: number): Part =>
        count === 0 ? EMPTY : { ...both(node(), rest(count - 1)), isOptional: true };
      let part = EMPTY;
      for (let i = 0; i < least; i++) {
        const one = node();
        part = both(part, i === least - 1 && most === Number.POSITIVE_INFINITY ? repeated(one) : one);
      }
      if (most !== Number.POSITIVE_INFINITY) return both(part, rest(most - least));
      return least > 0 ? part : { ...repeated(node()), isOptional: true };
    };

  const source = pattern.replace(/^\^/, "").replace(/((?:^|[^\\])(?:\\\\)*)\$$/, "$1");
  const symbols = [...source];
  let at = 0;
  const take = (symbol: string): boolean => symbols[at] === symbol && ++at > 0;

  const alternatives = (): Node => {
    const branches = [sequence()];
    while (take("|")) branches.push(sequence());
    return () => branches.map((branch) => branch()).reduce(either);
  };
  const sequence = (): Node => {
    const parts: Node[] = [];
    while (at < symbols.length && symbols[at] !== "|" && symbols[at] !== ")") parts.push(quantified(atom()));
    return () => parts.reduce((before, part) => both(before, part()), EMPTY);
  };
  const quantified = (node: Node): Node => {
    const [least, most] = quantifier() ?? [];
    if (least === undefined || most === undefined) return node;
    if (["*", "+", "?", "{"].includes(symbols[at] ?? "")) throw new Fault("has two quantifiers in a row");
    return times(node, least, most);
  };
  const quantifier = (): readonly [number, number] | undefined => {
    if (take("*")) return [0, Number.POSITIVE_INFINITY];
    if (take("+")) return [1, Number.POSITIVE_INFINITY];
    if (take("?")) return [0, 1];
    if (symbols[at] !== "{") return undefined;
    const [whole, from, comma, to] = /^\{(\d{1,3})(,?)(\d{0,3})\}/.exec(symbols.slice(at).join("")) ?? [];
    if (whole === undefined) throw new Fault('has a "{" that is no quantifier: write "\\{"');
    at += whole.length;
    const least = Number(from);
    const most = comma === "" ? least : to === "" ? Number.POSITIVE_INFINITY : Number(to);
    if (least > most) throw new Fault(`has the quantifier ${whole}, whose first number is greater`);
    return [least, most];
  };
  const atom = (): Node => {
    const symbol = symbols[at++] as string;
    switch (symbol) {
      case "(": {
        if (take("?") && !take(":")) throw new Fault("has a group that begins with (?: only (?:…) is possible");
        const inner = alternatives();
        if (!take(")")) throw new Fault('has a "(" without ")"');
        return inner;
      }
      case "[": {
        const from = at - 1;
        while (symbols[at] !== "]") {
          if (at >= symbols.length) throw new Fault('has a "[" without "]"');
          at += symbols[at] === "\\" ? 2 : 1;
        }
        at += 1;
        return character(symbols.slice(from, at).join(""));
      }
      case "\\":
        return character(escaped());
      case "^":
      case "$":
        throw new Fault(`has "${symbol}" in the middle: it always has to match the whole text`);
      case "*":
      case "+":
      case "?":
      case "{":
        throw new Fault(`has "${symbol}" with nothing before it to repeat`);
      default:
        return character(symbol);
    }
  };
  const escaped = (): string => {
    const rest = symbols.slice(at).join("");
    const [one] = /^(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/su.exec(rest) ?? [];
    if (one === undefined) throw new Fault('ends with "\\"');
    if (/^[bB1-9k]/.test(one)) throw new Fault(`has "\\${one}", which looks beyond one character`);
    at += [...one].length;
    return `\\${one}`;
  };

  const node = alternatives();
  if (at < symbols.length) throw new Fault('has a ")" without "("');
  const { first, last, isOptional } = node();
  return {
    ...{ tests: [...tests.values()].map(([, test]) => test), testAt, next: next.map((positions) => [...positions]) },
    ...{ first, last: new Set(last), matchesEmpty: isOptional },
  };
}

/** Characters that stand for themselves are compared; for classes and escapes JavaScript is asked. */
function characterTest(source: string): Test {
  if ([...source].length === 1 && source !== ".") {
    if (source === "]" || source === "}") throw new Fault(`has a "${source}" that closes nothing: write "\\${source}"`);
    return (character) => character === source;
  }
  try {
    const one = new RegExp(`^${source}$`, "u");
    return (character) => one.test(character);
  } catch {
    throw new Fault(`has ${source}, which is no character`);
  }
}
