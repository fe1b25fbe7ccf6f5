/** Whatever a function of an app may do instead of what it should, each under its name. */
export const nonsense: readonly (readonly [name: string, play: () => unknown])[] = [
  ["returns undefined", () => undefined],
  ["returns null", () => null],
  ["returns a number", () => 7],
  ["returns NaN", () => Number.NaN],
  ["returns an empty text", () => ""],
  ["returns a page", () => "<html>\n</html>"],
  ["returns a text with an emoji", () => "token😀"],
  ["returns an empty object", () => ({})],
  ["returns an array", () => [undefined]],
  ["returns a symbol", () => Symbol("s")],
  ["returns a function", () => () => "token"],
  ["returns an object without a text", () => Object.create(null)],
  ["returns an object that throws when it is read", () => throwing()],
  ["throws", () => raise(new Error("odd"))],
  ["throws nothing", () => raise(undefined)],
  ["throws null", () => raise(null)],
  ["throws an object without a text", () => raise(Object.create(null))],
  ["throws an object that throws when it is read", () => raise(throwing())],
  ["throws a symbol", () => raise(Symbol("s"))],
  ["rejects", () => Promise.reject(new Error("odd"))],
  ["rejects with nothing", () => Promise.reject()],
  ["rejects with an object without a text", () => Promise.reject(Object.create(null))],
  ["rejects with an error that has no message", () => Promise.reject(Object.assign(new Error(), { message: 7 }))],
  ["resolves with nonsense", () => Promise.resolve({ then: 7 })],
  [
    "settles twice",
    () => ({
      then(resolve: (value: unknown) => void, reject: (reason: unknown) => void) {
        reject(new Error("first"));
        resolve("second");
        throw new Error("third");
      },
    }),
  ],
];

/** Never settles: for functions whose time is limited. */
export const silence = ["never settles", () => new Promise<never>(() => {})] as const;

function raise(error: unknown): never {
  throw error;
}

/** Every use of it throws, except that it is no promise. */
const throwing = (): object =>
  new Proxy(
    {},
    {
      get: (_, key) => (key === "then" ? undefined : raise(new Error(`read ${String(key)}`))),
      ownKeys: () => raise(new Error("read the keys")),
      has: () => raise(new Error("looked for a key")),
    },
  );
