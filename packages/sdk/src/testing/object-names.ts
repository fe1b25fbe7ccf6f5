/** The names that every object of JavaScript has without being given them. */
export const objectNames = Object.getOwnPropertyNames(Object.prototype);

/** Those that a schema can give to a model or a field: names begin with a letter. */
export const declarableNames = objectNames.filter((name) => /^[A-Za-z]/.test(name));
