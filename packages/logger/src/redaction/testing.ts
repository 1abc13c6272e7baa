import type { PrivacyOptions, PrivacyRule } from './privacy-options.js'
import { RecordPrivacy } from './record-privacy.js'

/** Creates a rule that masks complete values in all areas by default. */
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

/** Creates privacy options with one key. */
export function options(...rules: readonly PrivacyRule[]): PrivacyOptions {
  return { keys: [{ id: 'k1', secret: 'a secret of the test' }], rules }
}

/** A record with one body. */
export interface BodyRecord {
  readonly body: { readonly req_in: { readonly text: string; readonly sha256?: string } }
  readonly privacy?: { readonly rules: readonly string[]; readonly detected: readonly string[] }
}

/** Returns a record after redaction. */
export function redactedRecord<R>(record: object, ...rules: readonly PrivacyRule[]): R {
  return JSON.parse(new RecordPrivacy(options(...rules)).redacted(JSON.stringify(record))) as R
}

/** Returns a request body after redaction. */
export function redactedBody(text: string, ...rules: readonly PrivacyRule[]): string {
  return redactedRecord<BodyRecord>({ body: { req_in: { text } } }, ...rules).body.req_in.text
}
