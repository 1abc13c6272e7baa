import type { BodyValue } from './body-answers.js'
import type { Exchange } from './exchange.js'

/**
 * Reads one value from the buffered request body. @throws UnreadableBody if the body is not valid JSON or
 * XML.
 */
export type BodyReader = (x: Exchange) => BodyValue

/** Reads one value without parsing the whole body, or returns undefined if the whole body is needed. */
export type StreamingReader = (x: Exchange) => BodyValue | undefined

/** Query language for bodies, used by the conditions `req.body.json(path)` and `req.body.xml(path)`. */
export interface BodyLanguage {
  /**
   * Loads the dependencies of the language. They are not loaded at startup because most gateways do not need
   * them.
   */
  load(): Promise<void>
  /** True if `compile` can be called because nothing has to be loaded or `load` has completed. */
  readonly isLoaded: boolean
  /**
   * Compiles a path.
   * @param names Namespaces of the prefixes in the path, in addition to the predefined ones.
   * @throws Error with the reason if the path is invalid.
   */
  compile(path: string, names: Readonly<Record<string, string>>): BodyReader
  /**
   * Compiles a faster reader for the same path, for routing. It stops as soon as it has found the value and
   * does not validate the rest of the body.
   * @param path A path that `compile` has accepted.
   * @returns Null if the path cannot be evaluated by streaming.
   */
  compileStreaming(path: string, names: Readonly<Record<string, string>>): StreamingReader | null
}

/** The body query languages that a gateway supports. */
export interface BodyLanguages {
  readonly json: BodyLanguage
  readonly xml: BodyLanguage
}

/** A body passed to a worker thread. */
export interface BodyInput {
  readonly body: Uint8Array
  /** Flat list of names and values, as in the exchange. */
  readonly headers: readonly string[]
}
