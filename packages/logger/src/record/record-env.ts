import { type CaptureRules, Memo, SensitiveNames } from '@sluice/core'
import { type CaptureNarrowing, type FieldLists, narrowed } from './capture-narrowing.js'
import { type GatewayOptions, GatewayPart } from './gateway-part.js'
import { jsonText } from './json-text.js'
import { RecurringText } from './recurring-text.js'
import { RoutePartsCache } from './route-parts.js'
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
  readonly routes: RoutePartsCache
  /** `"},"http":…,"url":{"host":…,"path":"` by method, version and host. */
  readonly http: RecurringText
  /** End of `req`, and `ua`, by content type, content encoding and user agent. */
  readonly request: RecurringText
  /** End of `res`, and the opening of `up`, by content type, upstream and target. */
  readonly response: RecurringText
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
    routes: new RoutePartsCache(texts, options.fields === 'minimal' ? null : new GatewayPart(options)),
    http: new RecurringText(
      texts,
      (method, version, host) =>
        `},"http":{"method":"${jsonText(method)}","version":"${version}"},"url":{"host":"${jsonText(host)}","path":"`,
    ),
    request: new RecurringText(
      texts,
      (type, encoding, agent) =>
        `${member('ct', type)}${member('encoding', encoding)}}${member('ua', agent)}`,
    ),
    response: new RecurringText(
      texts,
      (type, upstream, target) =>
        `${member('ct', type)}${upstream === '' ? '' : `},"up":{"name":"${jsonText(upstream)}"${member('addr', target)}`}`,
    ),
    known: new Memo(CACHED_TEXTS, jsonText),
    sensitive: new SensitiveNames(options.sensitiveNames ?? []),
    slowMs: options.slowMs ?? Number.POSITIVE_INFINITY,
    narrowed: narrowed(options.capture ?? null),
    fieldLists: options.capture ?? null,
  }
}

/** Returns a member of an object, or an empty string without a value. */
function member(name: string, value: string): string {
  return value === '' ? '' : `,"${name}":"${jsonText(value)}"`
}
