import { type Exchange, headerJoined, isToken } from '@sluice/core'

/** Returns a value of a request as text, or an empty string. */
export type Render = (x: Exchange) => string

/** Variables without a parameter. */
const VARIABLES: Readonly<Record<string, Render>> = {
  'req.id': (x) => x.id,
  'req.method': (x) => x.method,
  'req.host': (x) => x.host,
  'req.path': (x) => x.path,
  'client.ip': (x) => x.clientIp,
  'consumer.id': (x) => x.consumer?.id ?? '',
  'consumer.name': (x) => x.consumer?.name ?? '',
  'consumer.auth': (x) => x.consumer?.auth ?? '',
  'consumer.groups': (x) => x.consumer?.groups.join(' ') ?? '',
  'consumer.roles': (x) => x.consumer?.roles?.join(' ') ?? '',
  'consumer.scopes': (x) => x.consumer?.scopes?.join(' ') ?? '',
  'route.id': (x) => x.routeId,
  'api.name': (x) => x.api?.name ?? '',
  'api.group': (x) => x.api?.group ?? '',
  'api.revision': (x) => x.api?.revision ?? '',
}

/** Names of the variables, for messages and for the reference. */
export const TEMPLATE_VARIABLES: readonly string[] = [
  ...Object.keys(VARIABLES),
  'req.header.NAME',
  'consumer.claims.NAME',
  'vars.NAME',
]

const CLAIMS = 'consumer.claims.'

/** Additional variables of a policy, by name. */
export type OwnVariables = ReadonlyMap<string, Render>

const NO_VARIABLES: OwnVariables = new Map()

/** Escapes a value for the surrounding text. */
export type Escape = (value: string) => string

/**
 * Compiles a text with placeholders such as `{{req.id}}`. Text without placeholders stays a string, so that callers
 * can decide at compile time.
 * @param escapeValue escapes values; null inserts them unchanged.
 * @param own additional variables of the policy.
 * @throws Error for an unclosed placeholder or an unknown variable.
 */
export function compileTemplate(
  text: string,
  escapeValue: Escape | null = null,
  own: OwnVariables = NO_VARIABLES,
): string | Render {
  const parts: (string | Render)[] = []
  let from = 0
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const close = text.indexOf('}}', open)
    if (close === -1)
      throw new Error(`'${text}' has '{{' without '}}'; close the placeholder, for example {{req.id}}`)
    if (open > from) parts.push(text.slice(from, open))
    const name = text.slice(open + 2, close).trim()
    parts.push(escaped(own.get(name) ?? variable(name, own), escapeValue))
    from = close + 2
  }
  if (parts.length === 0) return text
  if (from < text.length) parts.push(text.slice(from))
  return joined(parts)
}

function escaped(render: Render, escapeValue: Escape | null): Render {
  return escapeValue === null ? render : (x) => escapeValue(render(x))
}

function joined(parts: readonly (string | Render)[]): Render {
  const first = parts[0]!
  if (parts.length === 1 && typeof first !== 'string') return first
  return (x) => {
    let text = ''
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      text += typeof part === 'string' ? part : part(x)
    }
    return text
  }
}

function variable(name: string, own: OwnVariables): Render {
  const plain = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined
  if (plain !== undefined) return plain
  if (name.startsWith('req.header.')) return requestHeader(name.slice('req.header.'.length))
  if (name.startsWith('vars.') && name.length > 'vars.'.length)
    return freeVariable(name.slice('vars.'.length))
  if (name.startsWith(CLAIMS) && name.length > CLAIMS.length) return consumerClaim(name.slice(CLAIMS.length))
  throw new Error(`unknown variable '{{${name}}}'; use ${[...TEMPLATE_VARIABLES, ...own.keys()].join(', ')}`)
}

function requestHeader(written: string): Render {
  const name = written.toLowerCase()
  if (!isToken(name))
    throw new Error(`'{{req.header.${written}}}' is not a header name; use the form {{req.header.x-tenant}}`)
  if (name === 'host') return (x) => x.authority
  return (x) => headerJoined(x.headers, name) ?? ''
}

function consumerClaim(name: string): Render {
  return (x) => x.consumer?.claims?.get(name) ?? ''
}

function freeVariable(name: string): Render {
  return (x) => x.vars?.get(name) ?? ''
}
