import { DecoratorHandler, type Dispatcher } from "undici";

/** A few are usual: `100 Continue`, `103 Early Hints`. */
const MOST_INFORMATIONAL = 16;
/** So many pieces of an answer may be small. */
const SMALL_PIECES = 4_096;
const SMALL_BYTES = 64;

/**
 * Ends answers that take much time for few bytes: each informational answer, and each piece of a body, is an event of its
 * own. A service that sends nothing else until the deadline would delay the requests of all tenants.
 */
export const boundedAnswers =
  (dispatch: Dispatcher["dispatch"]): Dispatcher["dispatch"] =>
  (options, handler) =>
    dispatch(options, new BoundedAnswer(handler));

type Handler = Required<Dispatcher.DispatchHandler>;
interface Events {
  onResponseStart(...args: Parameters<Handler["onResponseStart"]>): void;
  onResponseData(...args: Parameters<Handler["onResponseData"]>): void;
}

// The types of undici leave out what the class does.
class BoundedAnswer extends (DecoratorHandler as unknown as new (handler: Dispatcher.DispatchHandler) => Events) {
  #informational = 0;
  #pieces = 0;
  #bytes = 0;

  override onResponseStart(...args: Parameters<Handler["onResponseStart"]>): void {
    const [controller, status] = args;
    if (status >= 200) super.onResponseStart(...args);
    else if (++this.#informational > MOST_INFORMATIONAL) controller.abort(tooMany("informational answers"));
  }

  override onResponseData(...args: Parameters<Handler["onResponseData"]>): void {
    const [controller, piece] = args;
    this.#pieces += 1;
    this.#bytes += piece.length;
    if (this.#pieces > SMALL_PIECES && this.#bytes < SMALL_BYTES * this.#pieces)
      controller.abort(tooMany("small pieces"));
    else super.onResponseData(...args);
  }
}

/** The code of an answer that was ended, whose message is for the owner of the endpoint. */
export const TOO_MANY_PIECES = "too_many_pieces";

const tooMany = (what: string) =>
  Object.assign(new Error(`The answer came in too many ${what}.`), { code: TOO_MANY_PIECES });
