/**
 * Waits until `check` neither throws nor returns false, and returns what it returned. If a test has fake timers, they
 * advance meanwhile.
 */
export declare function until<T>(check: () => T | Promise<T>): Promise<T>;
//# sourceMappingURL=until.d.ts.map
