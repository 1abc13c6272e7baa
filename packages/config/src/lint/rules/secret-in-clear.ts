import { type DocumentPath, formatPath, isMapping } from '../../diagnostic/document-path.js'
import { isSecretName, maskedLiteral, maskLiterals, maskRandom } from '../../secrets/literal-secrets.js'
import { writtenSecretPaths } from '../../secrets/written-secrets.js'
import type { LintRule } from './rule.js'

/** Keys of objects with header fields or query parameters. */
const FIELDS: readonly (string | number | undefined)[] = ['headers', 'query', 'set', 'add']

/** Reports literal secrets: options that a schema marks, and values that look like keys or tokens. */
export const secretInClear: LintRule = {
  id: 'secret-in-clear',
  severity: 'error',
  title: 'The document contains a plaintext secret.',
  why: 'Documents are stored in version control, sent to controllers and read by many people. With a reference, the secret stays on the gateway machine. The rule covers options that hold secrets, and header values that look like keys or tokens. SHA-256 digests are allowed.',
  bad: `upstreams: { orders: { targets: ['http://10.0.0.1:80'], sticky: { secret: 0123456789abcdef } } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  good: `upstreams: { orders: { targets: ['http://10.0.0.1:80'], sticky: { secret: '\${env:STICKY_KEY}' } } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  check({ written, catalog }) {
    const found = [...writtenSecretPaths(written, catalog), ...suspectIn(written, [])]
    const paths = new Map(found.map((path) => [formatPath(path), path]))
    return [...paths].flatMap(([place, path]) => {
      if (path.at(-1) === 'sha256') return []
      const message = `'${place}' contains a plaintext secret`
      return [{ path, message, remedy: 'write a reference such as ${env:NAME} or ${file:/run/secrets/NAME}' }]
    })
  },
}

/** Returns the paths of strings that look like secrets. */
function suspectIn(value: unknown, path: DocumentPath): DocumentPath[] {
  if (typeof value === 'string') return isSuspect(value, path) ? [path] : []
  if (Array.isArray(value)) return value.flatMap((item, i) => suspectIn(item, [...path, i]))
  return isMapping(value)
    ? Object.entries(value).flatMap(([key, item]) => suspectIn(item, [...path, key]))
    : []
}

/** True for tokens and keys in a known form, and in fields also for random strings and fields with secret values. */
function isSuspect(text: string, path: DocumentPath): boolean {
  if (maskLiterals(text) !== text) return true
  if (!FIELDS.includes(path.at(-2))) return false
  const isNamed = isSecretName(String(path.at(-1))) && maskedLiteral(text) !== text
  return isNamed || maskRandom(text) !== text
}
