import { type Node, nodesIn, parse } from "../syntax.ts";
import { assertingNames, canFail, type KnownNames, type ReadSource } from "./asserting-names.ts";

/** What is wrong with a file of tests, one line each. `read` gives the code for tests that it imports. */
export function judgeTests(file: string, text: string, read: ReadSource, known: KnownNames = new Map()): string[] {
  const { program } = parse(file, text);
  const nodes = [...nodesIn(program)];
  const at = ({ start }: Node) => `${file}:${text.slice(0, start).split("\n").length}`;
  const calls = nodes.filter(({ type }) => type === "CallExpression");
  const faults = [
    ...calls.filter((call) => isFocused(call)).map((call) => `${at(call)} runs alone (.only): remove that`),
    ...calls
      .filter((call) => !isSpec(file) && isBareWait(call))
      .map((call) => `${at(call)} waits with ${nameOf(call.callee)}: use until of scripts/testing/until.ts`),
    ...calls
      .filter((call) => isSpec(file) && isImpatient(call) && !isWithin(call, retried(calls)))
      .map((call) => `${at(call)} gives an expectation a time of its own: leave it to the configuration`),
    ...emptyTests(calls, assertingNames(file, text, read, known)).map(
      (call) => `${at(call)} expects nothing: a test that can't fail proves nothing`,
    ),
  ];
  // The soak suite may measure, wait and take chances.
  if (isSoak(file)) return faults;
  // There the test moves the time.
  const faked = withFakeTimers(nodes, calls);
  return [
    ...faults,
    ...nodes
      .filter((node) => isSleep(node) && !isWithin(node, faked))
      .map((node) => `${at(node)} sleeps: wait for a state with until, or for what must not happen with giveTime`),
    ...calls
      .filter((call) => nameOf(call.callee) === "Math.random")
      .map((call) => `${at(call)} takes chances: use a pinned seed`),
    ...timeBounds(text, nodes, calls)
      .filter((call) => !isWithin(call, faked))
      .map((call) => `${at(call)} bounds elapsed time: prove an order instead, or move it to ${soakName(file)}`),
  ];
}

const isSpec = (file: string) => file.endsWith(".spec.ts");
const isSoak = (file: string) => /\.soak\.(test|spec)\.tsx?$/.test(file);
const soakName = (file: string) => file.replace(/.*\//, "").replace(/(\.pg|\.web)?\.(test|spec)\.tsx?$/, ".soak.$2.ts");

/** `a.b.c` of a callee; calls in between are left out. */
function nameOf(node: unknown): string {
  const { type, name, object, property, callee } = node as Node;
  if (type === "Identifier") return name as string;
  if (type === "CallExpression") return nameOf(callee);
  return type === "MemberExpression" ? `${nameOf(object)}.${nameOf(property)}` : "";
}

const isTestCall = (call: Node) =>
  /^(test|it)(\.(each|for|only|concurrent|sequential|runIf|skipIf|fails))*$/.test(nameOf(call.callee));

const isFocused = (call: Node) => /^(test|it|describe|bench)(\..*)?\.only(\.|$)/.test(nameOf(call.callee));

const isBareWait = (call: Node) =>
  /^(vi\.waitFor|vi\.waitUntil|expect\.poll)$/.test(nameOf(call.callee)) &&
  (call.callee as Node).type === "MemberExpression";

/** An expectation of Playwright with a time of its own. */
function isImpatient(call: Node): boolean {
  if (!/^expect\b/.test(nameOf(call.callee))) return false;
  const options = (call.arguments as Node[]).at(-1);
  return (
    options?.type === "ObjectExpression" &&
    (options.properties as Node[]).some(({ key }) => key !== undefined && nameOf(key) === "timeout")
  );
}

/** `new Promise((resolve) => setTimeout(resolve, ms))`, in each of its forms, and ready-made ones. */
function isSleep(node: Node): boolean {
  if (node.type === "ImportDeclaration") return /timers\/promises$/.test((node.source as { value: string }).value);
  if (node.type === "CallExpression") return nameOf(node.callee).endsWith(".waitForTimeout");
  if (node.type !== "NewExpression" || nameOf(node.callee) !== "Promise") return false;
  const [executor] = node.arguments as Node[];
  const [resolve] = ((executor?.params as Node[] | undefined) ?? []).map(nameOf);
  return [...nodesIn(executor)].some((inner) => {
    if (inner.type !== "CallExpression" || nameOf(inner.callee) !== "setTimeout" || resolve === undefined) return false;
    const [callback] = inner.arguments as Node[];
    const body = callback?.type === "ArrowFunctionExpression" ? (callback.body as Node) : callback;
    return body !== undefined && nameOf(body) === resolve;
  });
}

const isWithin = ({ start, end }: Node, ranges: readonly Node[]) =>
  ranges.some((range) => range.start <= start && (end as number) <= (range.end as number));

/** What `expect(…).toPass()` calls again and again: there an expectation has to give up soon. */
const retried = (calls: readonly Node[]): Node[] => calls.filter((call) => nameOf(call.callee) === "expect.toPass");

/** The functions, or the whole file, whose timers are fake: where `vi.useFakeTimers` is called, also before each test. */
function withFakeTimers(nodes: readonly Node[], calls: readonly Node[]): Node[] {
  const hooks = calls.filter((call) => /^before(Each|All)$/.test(nameOf(call.callee)));
  return calls
    .filter((call) => nameOf(call.callee) === "vi.useFakeTimers")
    .flatMap((call) => {
      const hook = hooks.find((one) => isWithin(call, [one])) ?? call;
      const around = nodes.filter((node) => /Function/.test(node.type) && node !== hook && isWithin(hook, [node]));
      return around.at(-1) ?? nodes[0] ?? [];
    });
}

const CLOCKS = /\b(performance\.now|Date\.now|process\.cpuUsage|process\.hrtime)\b/;

/** Upper bounds on what a clock said: `expect(performance.now() - begun).toBeLessThan(500)`, also through variables. */
function timeBounds(text: string, nodes: readonly Node[], calls: readonly Node[]): Node[] {
  const source = ({ start, end }: Node) => text.slice(start, end as number);
  const tests = calls.filter(isTestCall);
  const declared = nodes.filter(({ type }) => type === "VariableDeclarator" || type === "AssignmentExpression");
  return calls.filter((call) => {
    if (!/^expect\.(not\.)?(toBeLessThan|toBeLessThanOrEqual)$/.test(nameOf(call.callee))) return false;
    let expectation = call.callee as Node;
    while (expectation.type === "MemberExpression") expectation = expectation.object as Node;
    const [value] = (expectation.arguments as Node[]) ?? [];
    // Variables of other tests may have the same names.
    const others = tests.filter((test) => !isWithin(call, [test]));
    const isMeasured = measuredBy(
      declared.filter((node) => !isWithin(node, others)),
      source,
    );
    return value !== undefined && isMeasured(source(value));
  });
}

/** Whether code reads a clock, or a variable that was made from one. */
function measuredBy(declared: readonly Node[], source: (node: Node) => string): (code: string) => boolean {
  const measured = new Set<string>();
  const isMeasured = (code: string) =>
    CLOCKS.test(code) || [...measured].some((name) => new RegExp(`\\b${name.replace(/\$/g, "\\$")}\\b`).test(code));
  for (let known = -1; known < measured.size; ) {
    known = measured.size;
    for (const node of declared) {
      const [name, value] = node.type === "VariableDeclarator" ? [node.id, node.init] : [node.left, node.right];
      if (!value || (name as Node).type !== "Identifier" || /Function/.test((value as Node).type)) continue;
      if (isMeasured(source(value as Node))) measured.add(nameOf(name));
    }
  }
  return isMeasured;
}

/** Tests whose function, with what it calls, can't fail. */
const emptyTests = (calls: readonly Node[], asserting: ReadonlySet<string>): Node[] =>
  calls.filter((call) => {
    const body = isTestCall(call) && (call.arguments as Node[]).find(({ type }) => /Function/.test(type));
    return body && ![...nodesIn(body)].some((node) => canFail(node, asserting));
  });
