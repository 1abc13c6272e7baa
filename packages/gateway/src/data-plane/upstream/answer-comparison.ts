import type { MirrorComparePlan } from '@sluice/config'
import { headerValue, mediaType } from '@sluice/core'
import type { ReceivedHead } from './received-head.js'

/** Differences of a body that are reported, and how deep they are looked for. */
const MAX_PATHS = 10
const MAX_DEPTH = 64

/** What differs between two answers; never the values. */
export interface AnswerDifference {
  /** The statuses of the client's answer and the mirror's; null: the same. */
  readonly status: readonly [number, number] | null
  /** Names of the headers that differ. */
  readonly headers: readonly string[]
  /** Where the JSON bodies differ, as JSON Pointers (RFC 6901); empty text: as a whole. */
  readonly body: readonly string[]
}

/** One of two answers, as far as it has come. */
export class AnswerSide {
  readonly #maxBytes: number
  readonly #onEnd: () => void
  readonly #chunks: Buffer[] = []
  #bytes = 0
  head: ReceivedHead | null = null
  isComplete = false

  /** @param maxBytes of the body; a longer one is not kept. */
  constructor(maxBytes: number, onEnd: () => void) {
    this.#maxBytes = maxBytes
    this.#onEnd = onEnd
  }

  setHead(head: ReceivedHead): void {
    this.head = head
  }

  /** Copies the chunk, which is only valid during the call. */
  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#maxBytes) this.#chunks.length = 0
    else this.#chunks.push(Buffer.from(chunk))
  }

  end(): void {
    this.isComplete = true
    this.#onEnd()
  }

  /** The document of a JSON body; undefined when it is another kind, too long or coded. */
  json(): unknown {
    const fields = this.head!.fields
    const type = mediaType(headerValue(fields, 'content-type') ?? '')
    const isJson = type === 'application/json' || type.endsWith('+json')
    if (!isJson || this.#bytes > this.#maxBytes || headerValue(fields, 'content-encoding') !== null)
      return undefined
    try {
      return JSON.parse(Buffer.concat(this.#chunks).toString())
    } catch {
      return undefined
    }
  }
}

/** Compares the answer that a client gets with that of the mirror, once both are complete. */
export class AnswerComparison {
  readonly #plan: MirrorComparePlan
  readonly #onDifference: (found: AnswerDifference) => void
  readonly delivered: AnswerSide
  readonly mirrored: AnswerSide

  constructor(plan: MirrorComparePlan, onDifference: (found: AnswerDifference) => void) {
    this.#plan = plan
    this.#onDifference = onDifference
    const maxBytes = plan.json ? plan.maxBodyBytes : 0
    const onEnd = (): void => this.#compare()
    this.delivered = new AnswerSide(maxBytes, onEnd)
    this.mirrored = new AnswerSide(maxBytes, onEnd)
  }

  #compare(): void {
    if (!this.delivered.isComplete || !this.mirrored.isComplete) return
    const [mine, other] = [this.delivered.head!, this.mirrored.head!]
    const status = mine.status === other.status ? null : ([mine.status, other.status] as const)
    const headers = this.#plan.headers.filter(
      (name) => headerValue(mine.fields, name) !== headerValue(other.fields, name),
    )
    const body = this.#plan.json ? differencesOf(this.delivered.json(), this.mirrored.json()) : []
    if (status !== null || headers.length > 0 || body.length > 0)
      this.#onDifference({ status, headers, body })
  }
}

/** Where two documents differ; none where there is only one. */
function differencesOf(a: unknown, b: unknown): string[] {
  const paths: string[] = []
  const compare = (a: unknown, b: unknown, path: string, depth: number): void => {
    if (paths.length >= MAX_PATHS || depth > MAX_DEPTH || a === b) return
    if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
      paths.push(path)
      return
    }
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      compare(memberOf(a, key), memberOf(b, key), `${path}/${pointerPart(key)}`, depth + 1)
  }
  if (a !== undefined && b !== undefined) compare(a, b, '', 0)
  return paths
}

function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Undefined, which JSON does not have, where there is no such member. */
function memberOf(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}
