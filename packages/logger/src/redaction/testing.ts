import type { PrivacyOptions, PrivacyRule } from './privacy-options.js'
import { RecordPrivacy } from './record-privacy.js'

/** A rule that masks wholly, everywhere, unless something else is said. */
export function rule(find: PrivacyRule['find'], changes: Partial<PrivacyRule> = {}): PrivacyRule {
  return {
    id: Object.values(find).flat().join('-'),
    find,
    in: ['headers', 'query', 'body', 'vars'],
    do: 'mask',
    shape: { kind: 'whole', count: 0 },
    ...changes,
  }
}

/** Rules with one key. */
export function options(...rules: readonly PrivacyRule[]): PrivacyOptions {
  return { keys: [{ id: 'k1', secret: 'a secret of the test' }], rules }
}

/** A record with one body. */
export interface BodyRecord {
  readonly body: { readonly req_in: { readonly text: string; readonly sha256?: string } }
  readonly privacy?: { readonly rules: readonly string[]; readonly detected: readonly string[] }
}

/** What rules make of a record. */
export function redactedRecord<R>(record: object, ...rules: readonly PrivacyRule[]): R {
  return JSON.parse(new RecordPrivacy(options(...rules)).redacted(JSON.stringify(record))) as R
}

/** What rules make of a request's body. */
export function redactedBody(text: string, ...rules: readonly PrivacyRule[]): string {
  return redactedRecord<BodyRecord>({ body: { req_in: { text } } }, ...rules).body.req_in.text
}
