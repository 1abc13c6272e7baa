import type { RouteFacts } from '@sluice/core'
import type { GatewayPart } from './gateway-part.js'
import { jsonText } from './json-text.js'
import type { RecordWriter } from './record-writer.js'
import { NO_REFERENCE, type SharedTexts } from './shared-texts.js'

/** Parts that the records of a route have in common. */
export interface RouteParts {
  /** `,"env":…,"gw":…,"route":…,"client":{"ip":"`, with the API in between. */
  readonly opening: SharedPart
  /** End of the path's string, with the template. */
  readonly template: SharedPart
  readonly generation: number
  readonly gateway: string
}

/** A text and its reference. */
export interface SharedPart {
  readonly text: string
  readonly reference: number
}

/** Parts of records by route. They are computed once per route and configuration. */
export class RoutePartsCache {
  readonly #texts: SharedTexts
  readonly #gateway: GatewayPart | null
  readonly #parts = new WeakMap<RouteFacts, RouteParts>()

  /** @param gateway Null for records without the gateway. */
  constructor(texts: SharedTexts, gateway: GatewayPart | null) {
    this.#texts = texts
    this.#gateway = gateway
  }

  of(route: RouteFacts): RouteParts {
    const gateway = this.#gateway?.text(route.configDigest) ?? ''
    const known = this.#parts.get(route)
    if (known !== undefined && known.gateway === gateway && known.generation === this.#texts.generation)
      return known
    const parts = this.#partsOf(route, gateway)
    this.#parts.set(route, parts)
    return parts
  }

  #partsOf({ id, api, template }: RouteFacts, gateway: string): RouteParts {
    const names = { route: id, api: api?.name, group: api?.group, revision: api?.revision }
    const members = Object.entries(names).filter(([, name]) => typeof name === 'string')
    const identity = members.map(([key, name]) => `,"${key}":"${jsonText(name!)}"`).join('')
    return {
      opening: this.#share(`${gateway}${identity},"client":{"ip":"`),
      template: this.#share(template === '' ? '"' : `","template":"${jsonText(template)}"`),
      generation: this.#texts.generation,
      gateway,
    }
  }

  #share(text: string): SharedPart {
    return { text, reference: this.#texts.add(text) }
  }
}

/** Writes a part, as a reference if it is shared. */
export function writePart(w: RecordWriter, { text, reference }: SharedPart): void {
  if (reference === NO_REFERENCE) w.json(text)
  else w.reference(reference)
}
