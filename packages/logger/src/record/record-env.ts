import { type CaptureRules, Memo, SensitiveNames } from '@sluice/core'
import { type CaptureNarrowing, type FieldLists, narrowed } from './capture-narrowing.js'
import { type GatewayOptions, GatewayPart } from './gateway-part.js'
import { jsonText } from './json-text.js'
import { RecordTemplates } from './record-templates.js'
import { SharedTexts } from './shared-texts.js'

/** Cache size, sufficient for the names in a large configuration. */
const CACHED_TEXTS = 16_384

/** Amount of data in a record. Each level includes the previous one. */
export type FieldSet = 'minimal' | 'standard' | 'full'

/** Options shared by all records of a worker. */
export interface RecordOptions extends GatewayOptions {
  readonly fields: FieldSet
  /** Header fields and query parameters that hold secrets, in addition to the well-known ones. */
  readonly sensitiveNames?: readonly string[]
  /** Restrictions on captured messages. Null or absent records all that was captured. */
  readonly capture?: CaptureNarrowing | null
  /**
   * Duration in milliseconds from which an exchange is recorded in as much detail as a failed one. Absent
   * disables this.
   */
  readonly slowMs?: number
}

/** Environment for `writeRecord`. */
export interface RecordEnv {
  readonly fields: FieldSet
  readonly texts: SharedTexts
  readonly templates: RecordTemplates
  /**
   * JSON-escaped texts of names in the configuration, such as routes, upstreams and consumers. They are the
   * same string objects in every exchange, so that a lookup does not depend on their length.
   */
  readonly known: Memo<string>
  readonly sensitive: SensitiveNames
  readonly slowMs: number
  /** Returns the recording rules for data captured with `rules`. */
  narrowed(rules: CaptureRules): CaptureRules
  /** Field lists for exchanges without a capture, or null to record all fields. */
  readonly fieldLists: FieldLists | null
}

/** Creates the environment, once per worker. */
export function recordEnv(options: RecordOptions): RecordEnv {
  const texts = new SharedTexts()
  return {
    fields: options.fields,
    texts,
    templates: new RecordTemplates(texts, new GatewayPart(options)),
    known: new Memo(CACHED_TEXTS, jsonText),
    sensitive: new SensitiveNames(options.sensitiveNames ?? []),
    slowMs: options.slowMs ?? Number.POSITIVE_INFINITY,
    narrowed: narrowed(options.capture ?? null),
    fieldLists: options.capture ?? null,
  }
}
