import type { Exchange } from './exchange.js'

/** What a path finds in a body; null: nothing. */
export type BodyValue = string | number | boolean | null

/** Reads one value from the request body that has been collected. @throws UnreadableBody when it is not of its kind. */
export type BodyReader = (x: Exchange) => BodyValue

/** One way to ask a body for a value, as conditions do with `req.body.json(path)` and `req.body.xml(path)`. */
export interface BodyLanguage {
  /** Brings in what it needs, which takes too long for gateways that do not. */
  load(): Promise<void>
  /** `compile` can be called: nothing has to be loaded, or it was. */
  readonly isLoaded: boolean
  /**
   * @param names what prefixes in the path stand for, beside those that are always known.
   * @throws Error that says what is wrong with the path.
   */
  compile(path: string, names: Readonly<Record<string, string>>): BodyReader
}

/** The ways that a gateway knows. */
export interface BodyLanguages {
  readonly json: BodyLanguage
  readonly xml: BodyLanguage
}
