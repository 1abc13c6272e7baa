import { type Exchange, headerJoined, headerValue } from '@sluice/core'

/** The beginning of a body, copied. */
export interface BodyPart {
  /** Size of the whole body in bytes. */
  readonly bytes: number
  readonly beginning: Uint8Array
  readonly contentType: string
  readonly encoding: string
}

/** A side of an exchange. */
export type Side = 'request' | 'response'

/** Something that a hook changed, unmasked. Null stands for an absent value. */
export type Change =
  | {
      readonly what: 'header' | 'variable' | 'method' | 'path' | 'query' | 'status' | 'consumer'
      readonly side: Side
      /** Name of the header or variable; empty for others. */
      readonly name: string
      readonly before: string | null
      readonly after: string | null
    }
  | {
      readonly what: 'body'
      readonly side: Side
      readonly before: BodyPart | null
      readonly after: BodyPart | null
    }
  | { readonly what: 'filter'; readonly side: 'response' }

/** Maximum number of bytes of a body that are compared and shown. */
const MAX_BODY_BYTES = 8192
/** Maximum number of changes per hook. */
const MAX_CHANGES = 64

/** The parts of an exchange that hooks can change. Header lists are copied, because hooks change them in place. */
export class Picture {
  readonly #x: Exchange
  readonly #values: readonly (string | null)[]
  readonly #headers: readonly string[]
  readonly #responseHeaders: readonly string[]
  readonly #body: Uint8Array | null
  readonly #responseBody: Uint8Array | null
  readonly #vars: ReadonlyMap<string, string>
  readonly #filters: number

  constructor(x: Exchange) {
    this.#x = x
    this.#values = valuesOf(x)
    this.#headers = x.headers.slice()
    this.#responseHeaders = x.responseHeaders.slice()
    this.#body = x.body
    this.#responseBody = x.responseBody
    this.#vars = new Map(x.vars)
    this.#filters = x.responseFilters?.count ?? 0
  }

  /** Returns the differences between this picture and the exchange now. */
  changes(): Change[] {
    const x = this.#x
    const changes: Change[] = []
    valuesOf(x).forEach((after, i) => {
      const before = this.#values[i]!
      if (before !== after) changes.push({ ...VALUES[i]!, name: '', before, after })
    })
    addFields(changes, 'request', this.#headers, x.headers)
    addFields(changes, 'response', this.#responseHeaders, x.responseHeaders)
    for (const name of new Set([...this.#vars.keys(), ...(x.vars?.keys() ?? [])])) {
      const before = this.#vars.get(name) ?? null
      const after = x.vars?.get(name) ?? null
      if (before !== after) changes.push({ what: 'variable', side: 'request', name, before, after })
    }
    const request = bodyChange('request', this.#body, x.body, [this.#headers, x.headers])
    const lists = [this.#responseHeaders, x.responseHeaders] as const
    const response = bodyChange('response', this.#responseBody, x.responseBody, lists)
    for (const change of [request, response]) if (change !== null) changes.push(change)
    if ((x.responseFilters?.count ?? 0) > this.#filters) changes.push({ what: 'filter', side: 'response' })
    return changes.slice(0, MAX_CHANGES)
  }
}

const VALUES = [
  { what: 'method', side: 'request' },
  { what: 'path', side: 'request' },
  { what: 'query', side: 'request' },
  { what: 'consumer', side: 'request' },
  { what: 'status', side: 'response' },
] as const

function valuesOf(x: Exchange): (string | null)[] {
  const status = x.status === 0 ? null : String(x.status)
  return [x.method, x.forwardPath, x.query, x.consumer?.id ?? null, status]
}

function addFields(changes: Change[], side: Side, before: readonly string[], after: readonly string[]): void {
  const names = new Set<string>()
  for (const list of [before, after]) for (let i = 0; i < list.length; i += 2) names.add(list[i]!)
  for (const name of names) {
    const change = { before: headerJoined(before, name), after: headerJoined(after, name) }
    if (change.before !== change.after) changes.push({ what: 'header', side, name, ...change })
  }
}

function bodyChange(
  side: Side,
  before: Uint8Array | null,
  after: Uint8Array | null,
  [oldFields, newFields]: readonly [readonly string[], readonly string[]],
): Change | null {
  if (before === after) return null
  if (before !== null && after !== null && Buffer.compare(before, after) === 0) return null
  return { what: 'body', side, before: partOf(before, oldFields), after: partOf(after, newFields) }
}

function partOf(body: Uint8Array | null, fields: readonly string[]): BodyPart | null {
  if (body === null) return null
  return {
    bytes: body.length,
    beginning: body.slice(0, MAX_BODY_BYTES),
    contentType: headerValue(fields, 'content-type') ?? '',
    encoding: headerValue(fields, 'content-encoding') ?? '',
  }
}
