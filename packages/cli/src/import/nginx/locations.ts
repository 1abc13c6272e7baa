import { escapeRegex, patternOf, widenedPattern } from '../patterns.js'
import type { Directive } from './parse.js'
import type { Scope } from './scope.js'

/** A location with its path in the document. */
export interface Location {
  readonly scope: Scope
  /** Directive `location`, or `server` for all requests of a server. */
  readonly directive: Directive
  readonly kind: 'exact' | 'prefix' | 'regex'
  /** Path or pattern as in the source. */
  readonly text: string
  /** Path for `match.path`. */
  readonly path: string
  /** Conditions that the path does not express. */
  readonly when: readonly string[]
  /** True if `path` is selected correctly without the order of nginx. */
  readonly isNative: boolean
  /** True for the redirect that adds the slash at the end of a prefix. */
  readonly addsSlash?: boolean
  /** Text of the directive if RE2 does not support its pattern. `path` then matches more, and must be closed. */
  readonly missing?: string
}

interface Found {
  readonly directive: Directive
  readonly scope: Scope
  readonly kind: Location['kind']
  readonly isStrong: boolean
  readonly ignoresCase: boolean
  readonly text: string
}

/** Named locations, such as `@app`, by name. */
export type NamedLocations = ReadonlyMap<string, Scope>

/**
 * Returns the locations of a server in the order in which nginx chooses them:
 *
 *     = /exact  ─►  ^~ /prefix  ─►  ~ regex, as written  ─►  /prefix
 *
 * Prefixes are in the order of their length. A `^~` prefix excludes longer prefixes without `^~` by a condition.
 * Locations in a location are not supported. A prefix with some counts as `^~`, because it is closed for all of them.
 * @param proxies returns true if a location forwards requests; nginx then adds a missing slash at the end
 */
export function orderedLocations(server: Scope, proxies: (scope: Scope) => boolean): Location[] {
  const found = locationsIn(server)
  const byLength = (a: Found, b: Found): number => b.text.length - a.text.length
  const prefixes = found.filter(({ kind }) => kind === 'prefix').sort(byLength)
  const plain = prefixes.filter(({ isStrong }) => !isStrong)
  const strong = prefixes.filter(({ isStrong }) => isStrong)
  const regexes = found.filter(({ kind }) => kind === 'regex')
  const exact = found.filter(({ kind }) => kind === 'exact')
  const taken = new Set([...exact, ...prefixes].map(({ text }) => text))
  const slashes = prefixes.filter(
    ({ text, scope }) =>
      text.length > 1 && text.endsWith('/') && !taken.has(text.slice(0, -1)) && proxies(scope),
  )
  return [
    ...exact.map((one) => exactLocation(one, one.text)),
    ...slashes.map((one) => ({ ...exactLocation(one, one.text.slice(0, -1)), addsSlash: true })),
    ...strong.map((one) => {
      const longer = plain.filter(({ text }) => text.startsWith(one.text) && text !== one.text)
      const when = longer.map(({ text }) => `!req.path.startsWith(${JSON.stringify(text)})`)
      const location = prefixLocation(one, proxies)
      return {
        ...location,
        when,
        isNative: regexes.length === 0 && location.isNative && when.length === 0,
      }
    }),
    ...regexes.map(regexLocation),
    ...plain.map((one) => prefixLocation(one, proxies)),
  ]
}

function exactLocation({ scope, directive, kind }: Found, text: string): Location {
  return { scope, directive, kind, text, path: literalPath(text), when: [], isNative: true }
}

/** nginx compares prefixes as text: `/api` matches `/apis`. Only a slash at the end makes it a prefix of segments. */
function prefixLocation({ scope, directive, text }: Found, proxies: (scope: Scope) => boolean): Location {
  const isNative = text === '/' || (text.endsWith('/') && proxies(scope))
  const path = isNative ? `${literalPath(text)}*` : `~^${escapeRegex(text)}`
  return { scope, directive, kind: 'prefix', text, path, when: [], isNative }
}

function regexLocation({ scope, directive, text, ignoresCase }: Found): Location {
  const pattern = patternOf(text, ignoresCase)
  const location = { scope, directive, kind: 'regex', text, when: [], isNative: false } as const
  if (pattern !== null) return { ...location, path: `~${pattern}` }
  const missing = scope.use.leaveUnprotected(
    directive,
    'RE2 does not support the pattern, and a route with a wider one stands for it',
    'write a pattern without look-around and back references',
  )
  return { ...location, path: `~${widenedPattern(text, ignoresCase)}`, missing }
}

/** Escapes characters that have a meaning in path patterns. */
function literalPath(text: string): string {
  return encodeURI(text)
    .replaceAll(/[?#*;{}]/g, encodeURIComponent)
    .replaceAll('*', '%2A')
}

/** Returns the locations of a server, without named ones. */
function locationsIn(server: Scope): Found[] {
  return server.own('location').flatMap((directive): Found[] => {
    const [first = '', second] = directive.args
    const [, sign = '', glued = ''] = /^(=|\^~|~\*|~)?(.*)$/s.exec(first) ?? []
    const text = second ?? glued
    if (text.startsWith('@')) return []
    const kind = sign === '=' ? 'exact' : sign.startsWith('~') ? 'regex' : 'prefix'
    const scope = server.inner(directive.block ?? [])
    const isStrong = sign === '^~' || scope.own('location').length > 0
    return [{ directive, scope, kind, isStrong, ignoresCase: sign === '~*', text }]
  })
}

/** Returns the named locations of a server. */
export function namedLocations(server: Scope): NamedLocations {
  const named = server.own('location').filter(({ args: [name = ''] }) => name.startsWith('@'))
  return new Map(named.map((one) => [one.args[0]!, server.inner(one.block ?? [])]))
}
