import type { MirrorComparePlan } from '@sluice/config'
import { ByteCollector, headerValue, mediaType } from '@sluice/core'
import type { ReceivedHead } from './transport/received-head.js'

/** Maximum number of reported body differences, and maximum depth of the search. */
const MAX_PATHS = 10
const MAX_DEPTH = 64
/** Maximum length of a reported path, because its keys come from the targets. */
const MAX_PATH_CHARS = 200

/** Differences between two responses. Values are never included. */
export interface AnswerDifference {
  /** Statuses of the client's response and of the mirror's, or null if they are equal. */
  readonly status: readonly [number, number] | null
  /** Names of the headers that differ. */
  readonly headers: readonly string[]
  /** JSON Pointers (RFC 6901) to the differences of the JSON bodies. An empty string stands for the whole body. */
  readonly body: readonly string[]
}

/** Receiver of the outcome of a response. */
interface SideOwner {
  /** Called when the response is complete. */
  onEnd(): void
  /** Called when the response has failed. */
  onFailure(): void
}

/** A response to compare, as far as received. */
export class AnswerSide {
  readonly #maxBytes: number
  readonly #owner: SideOwner
  /** Collected body, or null if it is not collected or is too long. */
  #body: ByteCollector | null = new ByteCollector()
  head: ReceivedHead | null = null
  isComplete = false

  /** @param maxBytes maximum size of the body; a longer one is not collected. */
  constructor(maxBytes: number, owner: SideOwner) {
    this.#maxBytes = maxBytes
    this.#owner = owner
  }

  setHead(head: ReceivedHead): void {
    this.head = head
  }

  /** Copies the chunk, which is valid only during the call. */
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

  /** Discards the body when it is no longer needed. */
  drop(): void {
    this.#body = null
  }

  /** Returns the parsed JSON body, or undefined if it is not JSON, too long, or has a content coding. */
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
 * Compares the client's response with that of the mirror once both are complete. It is abandoned if one of them fails,
 * or after a timeout, so that a slow client does not keep the bodies in memory.
 */
export class AnswerComparison implements SideOwner {
  readonly #plan: MirrorComparePlan
  readonly #onOver: (found: AnswerDifference | null) => void
  readonly #timer: NodeJS.Timeout
  #isOver = false
  readonly delivered: AnswerSide
  readonly mirrored: AnswerSide

  /** @param onOver called once, with null if there is no difference or nothing to compare. */
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

/** Returns the paths at which two documents differ, or none if one document is missing. */
function differencesOf(a: unknown, b: unknown): string[] {
  const paths: string[] = []
  const compare = (a: unknown, b: unknown, path: string, depth: number): void => {
    if (paths.length >= MAX_PATHS || depth > MAX_DEPTH || a === b) return
    if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
      paths.push(path.length > MAX_PATH_CHARS ? `${path.slice(0, MAX_PATH_CHARS)}…` : path)
      return
    }
    if (Array.isArray(a) && Array.isArray(b)) {
      // Do not collect the keys: an array of many small numbers would have as many key strings.
      for (let i = 0; i < Math.max(a.length, b.length); i++)
        if (a[i] !== b[i]) compare(a[i], b[i], `${path}/${i}`, depth + 1)
      return
    }
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      compare(
        memberOf(a, key),
        memberOf(b, key),
        `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        depth + 1,
      )
  }
  if (a !== undefined && b !== undefined) compare(a, b, '', 0)
  return paths
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Returns a member, or undefined (which JSON does not have) if it is missing. */
function memberOf(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}
