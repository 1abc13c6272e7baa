import type { MirrorComparePlan } from '@sluice/config'
import { ByteCollector, headerValue, mediaType } from '@sluice/core'
import type { ReceivedHead } from './received-head.js'

/** Differences of a body that are reported, and how deep they are looked for. */
const MAX_PATHS = 10
const MAX_DEPTH = 64
/** Of a path: its keys are the targets' own. */
const MAX_PATH_CHARS = 200

/** What differs between two answers; never the values. */
export interface AnswerDifference {
  /** The statuses of the client's answer and the mirror's; null: the same. */
  readonly status: readonly [number, number] | null
  /** Names of the headers that differ. */
  readonly headers: readonly string[]
  /** Where the JSON bodies differ, as JSON Pointers (RFC 6901); empty text: as a whole. */
  readonly body: readonly string[]
}

/** Hears what becomes of an answer. */
interface SideOwner {
  /** It is complete. */
  onEnd(): void
  /** It does not come. */
  onFailure(): void
}

/** One of two answers, as far as it has come. */
export class AnswerSide {
  readonly #maxBytes: number
  readonly #owner: SideOwner
  /** Null: the body is not kept, or too long. */
  #body: ByteCollector | null = new ByteCollector()
  head: ReceivedHead | null = null
  isComplete = false

  /** @param maxBytes of the body; a longer one is not kept. */
  constructor(maxBytes: number, owner: SideOwner) {
    this.#maxBytes = maxBytes
    this.#owner = owner
  }

  setHead(head: ReceivedHead): void {
    this.head = head
  }

  /** Copies the chunk, which is only valid during the call. */
  add(chunk: Uint8Array): void {
    const body = this.#body
    if (body === null) return
    if (body.size + chunk.length > this.#maxBytes) this.#body = null
    else body.add(chunk)
  }

  end(): void {
    this.isComplete = true
    this.#owner.onEnd()
  }

  fail(): void {
    this.#owner.onFailure()
  }

  /** Nobody compares it any more. */
  drop(): void {
    this.#body = null
  }

  /** The document of a JSON body; undefined when it is another kind, too long or coded. */
  json(): unknown {
    const fields = this.head!.fields
    const type = mediaType(headerValue(fields, 'content-type') ?? '')
    const isJson = type === 'application/json' || type.endsWith('+json')
    const body = this.#body
    if (!isJson || body === null || headerValue(fields, 'content-encoding') !== null) return undefined
    try {
      return JSON.parse(body.toBuffer().toString())
    } catch {
      return undefined
    }
  }
}

/**
 * Compares the answer that a client gets with that of the mirror, once both are complete. It ends when that is so, when
 * one of them does not come, or after a time: a client that reads slowly, or is gone, must not hold what is kept of them.
 */
export class AnswerComparison implements SideOwner {
  readonly #plan: MirrorComparePlan
  readonly #onOver: (found: AnswerDifference | null) => void
  readonly #timer: NodeJS.Timeout
  #isOver = false
  readonly delivered: AnswerSide
  readonly mirrored: AnswerSide

  /** @param onOver is called once; null: there is no difference, or nothing to compare. */
  constructor(plan: MirrorComparePlan, timeoutMs: number, onOver: (found: AnswerDifference | null) => void) {
    this.#plan = plan
    this.#onOver = onOver
    const maxBytes = plan.json ? plan.maxBodyBytes : 0
    this.delivered = new AnswerSide(maxBytes, this)
    this.mirrored = new AnswerSide(maxBytes, this)
    this.#timer = setTimeout(() => this.onFailure(), timeoutMs).unref()
  }

  onEnd(): void {
    if (!this.#isOver && this.delivered.isComplete && this.mirrored.isComplete) this.#end(this.#compare())
  }

  onFailure(): void {
    if (!this.#isOver) this.#end(null)
  }

  #end(found: AnswerDifference | null): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    for (const side of [this.delivered, this.mirrored]) side.drop()
    this.#onOver(found)
  }

  #compare(): AnswerDifference | null {
    const [mine, other] = [this.delivered.head!, this.mirrored.head!]
    const status = mine.status === other.status ? null : ([mine.status, other.status] as const)
    const headers = this.#plan.headers.filter(
      (name) => headerValue(mine.fields, name) !== headerValue(other.fields, name),
    )
    const body = this.#plan.json ? differencesOf(this.delivered.json(), this.mirrored.json()) : []
    return status !== null || headers.length > 0 || body.length > 0 ? { status, headers, body } : null
  }
}

/** Where two documents differ; none where there is only one. */
function differencesOf(a: unknown, b: unknown): string[] {
  const paths: string[] = []
  const compare = (a: unknown, b: unknown, path: string, depth: number): void => {
    if (paths.length >= MAX_PATHS || depth > MAX_DEPTH || a === b) return
    if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
      paths.push(path.length > MAX_PATH_CHARS ? `${path.slice(0, MAX_PATH_CHARS)}…` : path)
      return
    }
    if (Array.isArray(a) && Array.isArray(b)) {
      // Not by their keys: an array of many small numbers has as many names to make.
      for (let i = 0; i < Math.max(a.length, b.length); i++)
        if (a[i] !== b[i]) compare(a[i], b[i], `${path}/${i}`, depth + 1)
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
