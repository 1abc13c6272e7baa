import type { Scope } from './scope.js'

/** Templates of policies for the variables of nginx. */
const TEMPLATES: Readonly<Record<string, string>> = {
  remote_addr: '{{client.ip}}',
  realip_remote_addr: '{{client.ip}}',
  host: '{{req.host}}',
  http_host: '{{req.header.host}}',
  request_id: '{{req.id}}',
  request_method: '{{req.method}}',
  remote_user: '{{consumer.id}}',
  uri: '{{req.path}}',
  document_uri: '{{req.path}}',
}
/** CEL expressions for the variables of nginx. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  remote_addr: 'client.ip',
  binary_remote_addr: 'client.ip',
  host: 'req.host',
  http_host: 'req.host',
  request_method: 'req.method',
  scheme: 'req.scheme',
  uri: 'req.path',
  document_uri: 'req.path',
  request_uri: 'req.path',
  server_name: 'req.host',
}
/** An address or range. */
export const ADDRESS = /^[0-9a-fA-F:.]+(\/\d{1,3})?$/
const VARIABLE = /\$\{?([A-Za-z_]\w*)\}?/g

/** Returns the template for a header value, or null if a variable cannot be mapped. */
export function templateOf(text: string, scope: Scope): string | null {
  let isKnown = !text.includes('{{')
  const template = scope.resolve(text).replaceAll(VARIABLE, (_, name: string) => {
    const field = /^http_(\w+)$/.exec(name)
    const known = TEMPLATES[name] ?? (field === null ? undefined : `{{req.header.${fieldName(field[1]!)}}}`)
    isKnown &&= known !== undefined
    return known ?? ''
  })
  return isKnown ? template : null
}

/** Returns the CEL expression of a variable such as `$remote_addr`, or null. Names of `$arg_…` ignore case: no counterpart. */
export function expressionOf(variable: string): string | null {
  const name = /^\$\{?(\w+)\}?$/.exec(variable)?.[1]
  if (name === undefined) return null
  const [, kind, key] = /^(http|arg|cookie)_(\w+)$/.exec(name) ?? []
  if (EXPRESSIONS[name] !== undefined) return EXPRESSIONS[name]
  if (kind === 'http') return `req.header[${JSON.stringify(fieldName(key!))}]`
  if (kind === 'cookie') return `req.cookie[${JSON.stringify(key)}]`
  return null
}

function fieldName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** Returns a duration of the document for one of nginx (`60`, `1m30s`, `500ms`), or null. Longer ones are reduced to the limit. */
export function durationOf(text: string | undefined, mostMs = 3_600_000): string | null {
  const given = millisecondsOf(text)
  if (given === null) return null
  const ms = Math.min(mostMs, Math.max(1, given))
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`
}

/** Returns a duration in milliseconds, or null. */
function millisecondsOf(text: string | undefined): number | null {
  const units: Readonly<Record<string, number>> = {
    ms: 1,
    s: 1000,
    m: 60_000,
    h: 3_600_000,
    d: 86_400_000,
    '': 1000,
  }
  if (text === undefined || !/^(\d+(ms|[smhd])?)+$/.test(text)) return null
  return [...text.matchAll(/(\d+)(ms|[smhd]?)/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * units[unit!]!,
    0,
  )
}

/** Returns a size in bytes (`10m`, `512k`, `1g`), or null. */
export function bytesOf(text: string | undefined): number | null {
  const [, number, unit = ''] = /^(\d+)([kmg]?)$/i.exec(text ?? '') ?? []
  if (number === undefined) return null
  return Number(number) * 1024 ** ['', 'k', 'm', 'g'].indexOf(unit.toLowerCase())
}

/** Returns a size of the document. */
export function sizeText(bytes: number): string {
  const units = ['b', 'kb', 'mb', 'gb']
  let unit = 0
  let value = bytes
  while (unit < 3 && value > 0 && value % 1024 === 0) {
    value /= 1024
    unit++
  }
  return `${value}${units[unit]}`
}
