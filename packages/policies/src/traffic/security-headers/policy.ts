import {
  definePolicy,
  type Exchange,
  type HeaderList,
  headerValue,
  isFieldValue,
  isToken,
  removeHeader,
  setHeader,
} from '@sluice/core'
import { PRESETS, SECURITY_FIELDS } from '../../shared/message/security-presets.js'
import { type SecurityHeadersConfig, securityHeadersSchema } from './schema.js'

const HSTS = 'strict-transport-security'

/**
 * The `security-headers` policy. Adds security fields to responses, and removes fields that reveal software.
 */
export const securityHeaders = definePolicy({
  name: 'security-headers',
  summary: 'Adds security fields to responses, such as HSTS and CSP, and removes those that reveal software.',
  schema: securityHeadersSchema,
  compile(config) {
    const fields = fieldsOf(config)
    const secure = fields.filter(([name]) => name === HSTS)
    const always = fields.filter(([name]) => name !== HSTS)
    const removed = config.remove.map(removable)
    const add = config.overwrite ? setHeader : setIfAbsent
    return {
      name: 'security-headers',
      onResponse(x: Exchange) {
        const list = x.responseHeaders
        for (const name of removed) removeHeader(list, name)
        for (const [name, value] of always) add(list, name, value)
        if (x.scheme === 'https') for (const [name, value] of secure) add(list, name, value)
        return null
      },
    }
  },
})

function setIfAbsent(list: HeaderList, name: string, value: string): void {
  if (headerValue(list, name) === null) list.push(name, value)
}

/** Merges the preset with the configured fields. @throws Error for an unknown name or an invalid value. */
function fieldsOf({ preset, headers = {} }: SecurityHeadersConfig): [string, string][] {
  const fields = new Map<string, string | false>(Object.entries(PRESETS[preset]))
  for (const [written, value] of Object.entries(headers)) {
    const name = written.toLowerCase()
    if (!SECURITY_FIELDS.includes(name))
      throw new Error(
        `'${written}' is not one of ${SECURITY_FIELDS.join(', ')}: set other fields with 'header'`,
      )
    if (value !== false && !isFieldValue(value))
      throw new Error(
        `the value of '${name}' has a character that is not allowed in headers: write it in one line`,
      )
    fields.set(name, value)
  }
  return [...fields].filter((field): field is [string, string] => field[1] !== false)
}

/** Validates a field to remove. `server` is allowed, because it comes from the upstream. */
function removable(written: string): string {
  const name = written.toLowerCase()
  if (isToken(name) && !['content-length', 'transfer-encoding', 'connection'].includes(name)) return name
  throw new Error(`'${written}' is not a header that can be removed: use names such as x-powered-by`)
}
