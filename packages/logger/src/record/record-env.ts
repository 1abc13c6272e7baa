import { type CaptureRules, Memo, SensitiveNames } from '@sluice/core'
import { type CaptureNarrowing, type FieldLists, narrowed } from './capture-narrowing.js'
import { GatewayPart } from './gateway-part.js'
import { IsoClock } from './iso-clock.js'
import { jsonText } from './json-text.js'

/** Room for the names of a large configuration. */
const REMEMBERED_TEXTS = 16_384

/** How much a record holds; each level holds the one before. */
export type FieldSet = 'minimal' | 'standard' | 'full'

/** What all records of one worker have in common. */
export interface RecordOptions {
  readonly fields: FieldSet
  /** The worker's index. */
  readonly worker: number
  /** The machine or pod. */
  readonly node: string
  /** Which gateway this is among several; null or absent: not recorded. */
  readonly environment?: string | null
  /** The build of the gateway. */
  readonly version: string
  /** The digest of the configuration that serves now; asked for once a record. */
  readonly configDigest: () => string
  /** Header fields and query parameters that hold secrets, beside the well-known ones. */
  readonly sensitiveNames?: readonly string[]
  /** What is recorded of captured messages; null or absent: all that was captured. */
  readonly capture?: CaptureNarrowing | null
  /** The record of an exchange that took longer holds as much as that of one that failed, ms; absent: none does for its time alone. */
  readonly slowMs?: number
}

/** What encodeRecord needs beside the exchange. */
export interface RecordEnv {
  readonly fields: FieldSet
  readonly gateway: GatewayPart
  readonly clock: IsoClock
  /**
   * The insides of JSON strings for texts of the configuration: names of routes, upstreams, consumers. They are the same
   * string objects in every exchange, so that a look-up does not depend on their length.
   */
  readonly known: Memo<string>
  readonly sensitive: SensitiveNames
  readonly slowMs: number
  /** What is recorded of what was captured by these rules. */
  narrowed(rules: CaptureRules): CaptureRules
  /** Which fields are recorded of exchanges of which nothing was captured; null: all. */
  readonly fieldLists: FieldLists | null
}

/** Prepares the encoding of records, once a worker. */
export function recordEnv(options: RecordOptions): RecordEnv {
  return {
    fields: options.fields,
    gateway: new GatewayPart(options),
    clock: new IsoClock(),
    known: new Memo(REMEMBERED_TEXTS, jsonText),
    sensitive: new SensitiveNames(options.sensitiveNames ?? []),
    slowMs: options.slowMs ?? Number.POSITIVE_INFINITY,
    narrowed: narrowed(options.capture ?? null),
    fieldLists: options.capture ?? null,
  }
}
