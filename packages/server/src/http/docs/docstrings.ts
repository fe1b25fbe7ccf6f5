// Made from the docstrings of packages/sdk/src/protocol by `npm run docs:write`; change them there.

/** What is said of each schema (under "") and of its fields, inner ones with dots between. */
export const docstrings: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
