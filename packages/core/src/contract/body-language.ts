import type { BodyValue } from './body-answers.js'
import type { Exchange } from './exchange.js'

/** Reads one value from the request body that has been collected. @throws UnreadableBody when it is not of its kind. */
export type BodyReader = (x: Exchange) => BodyValue

/** The same without reading the whole body; undefined: it takes the whole body. */
export type StreamingReader = (x: Exchange) => BodyValue | undefined

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
  /**
   * A short way to what `compile` reads, for routing: it stops behind what it finds and leaves unseen what follows, which
   * need not be of its kind then. Null: this path has none.
   *
   * @param path that `compile` has taken.
   */
  compileStreaming(path: string, names: Readonly<Record<string, string>>): StreamingReader | null
}

/** The ways that a gateway knows. */
export interface BodyLanguages {
  readonly json: BodyLanguage
  readonly xml: BodyLanguage
}

/** A body on its way to a thread. */
export interface BodyInput {
  readonly body: Uint8Array
  /** Flat list, as in the exchange. */
  readonly headers: readonly string[]
}
